// The contract of DNS providers, by each external one: the stand-in of its API writes into a real bind9, which answers. Of each
// kind of API one does so under `npm test`; what others have in their zone is looked up there.

import { Resolver } from 'node:dns/promises'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, vi } from 'vitest'
import { cloudflare } from '../../../../dns/test/providers/fakes/cloudflare.ts'
import { type Dialect, FakeApi, type Fault } from '../../../../dns/test/providers/fakes/fake-api.ts'
import type { FakeZone } from '../../../../dns/test/providers/fakes/fake-zone.ts'
import { DIALECTS } from '../../../../dns/test/providers/fakes/index.ts'
import { route53 } from '../../../../dns/test/providers/fakes/route53.ts'
import { writeInto } from '../../../../dns/test/providers/fakes/write-into.ts'
import { type Bind9, findBind9, startBind9 } from '../../../../tools/programs/bind9.ts'
import { atDepth } from '../../../../tools/test-depth.ts'
import { Propagation } from '../../../src/features/dns/propagation.ts'
import { openExternalProvider } from '../../../src/features/dns/providers/open-provider.ts'
import { type ProviderUnderTest, type Trouble, testProviderContract } from '../provider-contract.ts'
import { logTo, ROOT_HOST } from './harness.ts'

const ZONE = 'example.com'
/** One API changes records, the other sets of records. */
const WITH_BIND9: readonly Dialect[] = atDepth(DIALECTS, [cloudflare, route53])
const BROKEN: Fault = { kind: 'error', times: 100 }
/** Milliseconds for a request to an API that may not answer. */
const IMPATIENT_MS = 1_000
const NO_BIND9 = findBind9() === undefined ? 'needs apt' : undefined

let bind9: Bind9 | undefined
beforeAll(async () => {
  if (NO_BIND9 === undefined) bind9 = await startBind9({ zone: ZONE })
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await bind9?.close()
})

for (const dialect of DIALECTS) {
  const hasBind9 = WITH_BIND9.includes(dialect)
  testProviderContract(dialect.provider, () => startProvider(dialect, hasBind9 ? bind9 : undefined), {
    skipped: hasBind9 ? NO_BIND9 : undefined,
  })
}

async function startProvider(dialect: Dialect, server: Bind9 | undefined) {
  const api = await FakeApi.start(dialect)
  if (server) writeInto(server, api.zone)
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', api.env.GOOGLE_APPLICATION_CREDENTIALS)
  const propagation = server ? new Propagation({ servers: [server.address] }) : { waitForTxt: async () => {} }
  const directory = await mkdtemp(join(tmpdir(), 'dns-records-'))
  const open = async (access: FakeApi['access'], faults: readonly Fault[] = [], deadlineMs = 60_000) => {
    api.access = access
    api.faults.splice(0, api.faults.length, ...faults)
    return await openExternalProvider(dialect.provider, {
      env: api.env,
      rootHost: ROOT_HOST,
      identityPath: await mkdtemp(join(directory, 'identity-')),
      log: logTo([]),
      connection: { baseUrl: api.baseUrl, deadlineMs, pauseMs: 0 },
      propagation,
      resolveNs: async (name) => (name === ZONE ? [...dialect.nameServers] : []),
      firstPauseMs: 1,
    })
  }
  return {
    provider: await open('whole'),
    host: ROOT_HOST,
    ...(server ? viewOf(server) : zoneView(api.zone)),
    async addForeign(name: string, type: string, value: string) {
      const before = [...api.zone.records]
      api.zone.add(name, type, type === 'TXT' ? `"${value}"` : value, api.zone.of(name, type)[0]?.ttl)
      await api.zone.onChange?.(before)
    },
    faults: {
      'a wrong token': { fault: 'unauthorized' as const, provider: () => open('none') },
      'a token that may not write': { fault: 'unauthorized' as const, provider: () => open('read') },
      'a provider that has an error': {
        fault: 'unavailable' as const,
        provider: () => open('whole', [BROKEN]),
      },
    },
    async troubled() {
      return {
        provider: await open('whole', [], IMPATIENT_MS),
        trouble: ({ retryAfterS, ...fault }: Trouble): void =>
          void api.faults.push({
            ...fault,
            ...(retryAfterS !== undefined && { headers: { 'retry-after': `${retryAfterS}` } }),
          }),
        requests: () => api.requests.length,
      }
    },
    async close() {
      api.close()
      await rm(directory, { recursive: true })
    },
  }
}

/** What bind9 answers. */
function viewOf(server: Bind9): Pick<ProviderUnderTest, 'txt' | 'addresses'> {
  const resolver = new Resolver()
  resolver.setServers([server.address])
  return {
    txt: async (name) => (await resolver.resolveTxt(name).catch(none)).map((strings) => strings.join('')),
    addresses: async (name) => ({
      ipv4: await resolver.resolve4(name).catch(none),
      ipv6: await resolver.resolve6(name).catch(none),
    }),
  }
}

/** What a name server would answer from the zone: one wildcard stands for the names beside it. */
function zoneView(zone: FakeZone): Pick<ProviderUnderTest, 'txt' | 'addresses'> {
  const look = (name: string, type: string): string[] => {
    const isThere = zone.records.some((record) => record.name === name)
    return zone.data(isThere ? name : name.replace(/^[^.]+/, '*'), type)
  }
  return {
    txt: async (name) => look(name, 'TXT').map((data) => data.slice(1, -1)),
    addresses: async (name) => ({ ipv4: look(name, 'A'), ipv6: look(name, 'AAAA') }),
  }
}

function none(error: NodeJS.ErrnoException): never[] {
  if (error.code !== 'ENODATA' && error.code !== 'ENOTFOUND') throw error
  return []
}
