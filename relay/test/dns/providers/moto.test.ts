// The contract of DNS providers by Route 53, against moto: a server of others that knows the API. `npm run interop -- dns-providers`
// starts it and names it in MOTO_URL; else these tests are skipped.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { quoteTxt, unquoteTxt } from '../../../../dns/src/providers/record-value.ts'
import {
  changeBatch,
  type ResourceRecordSet,
  readHostedZone,
  readRecordSets,
} from '../../../../dns/src/providers/route53-xml.ts'
import type { DnsProvider } from '../../../src/features/dns/provider.ts'
import { openExternalProvider } from '../../../src/features/dns/providers/open-provider.ts'
import { testProviderContract } from '../provider-contract.ts'
import { logTo } from './harness.ts'

const { MOTO_URL = '' } = process.env
const skipped = MOTO_URL === '' ? 'needs npm run interop -- dns-providers' : undefined
/** moto reads the service from the signature's scope, and believes the signature. */
const AUTHORIZATION =
  'AWS4-HMAC-SHA256 Credential=id/20261101/us-east-1/route53/aws4_request, SignedHeaders=host, Signature=0'
const KEYS = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' }

testProviderContract('route53', startWithMoto, { skipped })

async function startWithMoto() {
  const host = 'relay.contract.test'
  const zone = await createZone('contract.test')
  const sets = async (): Promise<ResourceRecordSet[]> =>
    readRecordSets(await ask(`hostedzone/${zone}/rrset?maxitems=300`))
  const look = async (name: string, type: string): Promise<string[]> => {
    const all = await sets()
    const isThere = all.some((set) => set.name === name)
    const found = isThere ? name : name.replace(/^[^.]+/, '*')
    return all.find((set) => set.name === found && set.type === type)?.values ?? []
  }
  const directory = await mkdtemp(join(tmpdir(), 'dns-records-'))
  const open = async (baseUrl: string): Promise<DnsProvider> =>
    await openExternalProvider('route53', {
      env: KEYS,
      rootHost: host,
      identityPath: await mkdtemp(join(directory, 'identity-')),
      log: logTo([]),
      connection: { baseUrl, pauseMs: 0 },
      propagation: { waitForTxt: async () => {} },
      resolveNs: async (name) => (name === 'contract.test' ? await nameServers(zone) : []),
      firstPauseMs: 1,
    })
  return {
    provider: await open(MOTO_URL),
    host,
    txt: async (name: string) => (await look(name, 'TXT')).map(unquoteTxt),
    addresses: async (name: string) => ({ ipv4: await look(name, 'A'), ipv6: await look(name, 'AAAA') }),
    async addForeign(name: string, type: string, value: string) {
      const data = type === 'TXT' ? quoteTxt(value) : value
      const batch = changeBatch({ name: `${name}.`, type, ttl: 300 }, [], [data])
      // moto refuses a CREATE that is the same as an earlier one, even after a DELETE in its own batch.
      await ask(`hostedzone/${zone}/rrset`, batch.replace('CREATE', 'UPSERT'))
    },
    faults: {
      'a server that is not there': {
        fault: 'unavailable' as const,
        provider: () => open('http://127.0.0.1:1'),
      },
    },
    close: () => rm(directory, { recursive: true }),
  }
}

async function createZone(name: string): Promise<string> {
  const answer = await ask(
    'hostedzone',
    `<CreateHostedZoneRequest xmlns="https://route53.amazonaws.com/doc/2013-04-01/"><Name>${name}.</Name><CallerReference>${Date.now()}</CallerReference></CreateHostedZoneRequest>`,
  )
  return readHostedZone(answer).id
}

async function nameServers(zone: string): Promise<string[]> {
  return readHostedZone(await ask(`hostedzone/${zone}`)).nameServers
}

async function ask(path: string, body?: string): Promise<string> {
  const response = await fetch(`${MOTO_URL}/2013-04-01/${path}`, {
    headers: { authorization: AUTHORIZATION },
    ...(body === undefined ? {} : { method: 'POST', body }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return text
}
