// Certificates for the root host and its wildcard, with nothing but a DNS provider: pebble asks a resolver, this one asks bind9, and
// bind9 has what the relay told the provider. An order for each provider under `npm test -- --whole`, else for one.
import { X509Certificate } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { FakeApi } from '../../../../dns/test/providers/fakes/fake-api.ts'
import { hetzner } from '../../../../dns/test/providers/fakes/hetzner.ts'
import { DIALECTS } from '../../../../dns/test/providers/fakes/index.ts'
import { writeInto } from '../../../../dns/test/providers/fakes/write-into.ts'
import { freePort } from '../../../../tools/network/free-port.ts'
import { type Bind9, findBind9, startBind9 } from '../../../../tools/programs/bind9.ts'
import { type AcmeServer, hasAcmeServer, startAcmeServer } from '../../../../tools/programs/pebble.ts'
import { atDepth } from '../../../../tools/test-depth.ts'
import { createLog } from '../../../src/core/log/log.ts'
import { createRequest } from '../../../src/features/acme/client.ts'
import { Propagation } from '../../../src/features/dns/propagation.ts'
import { openExternalProvider } from '../../../src/features/dns/providers/open-provider.ts'
import { newKey } from '../../certificates/acme/keys.ts'
import { newAuthority } from '../../certificates/acme/test-authority.ts'

const ZONE = 'example.com'
const skipped = findBind9() === undefined || !hasAcmeServer()

describe.skipIf(skipped)('an order by dns-01', () => {
  let bind9: Bind9
  let acme: AcmeServer

  beforeAll(async () => {
    bind9 = await startBind9({ zone: ZONE })
    const zones = { [ZONE]: bind9.address.replace(':', '@') }
    acme = await startAcmeServer({ tlsPort: await freePort(), zones })
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    await acme?.close()
    await bind9?.close()
  })

  test.each(atDepth(DIALECTS, [hetzner]).map((dialect) => [dialect.provider, dialect] as const))(
    'through %s gets one certificate for the host and its wildcard, and leaves no record',
    async (name, dialect) => {
      const api = await FakeApi.start(dialect)
      writeInto(bind9, api.zone)
      vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', api.env.GOOGLE_APPLICATION_CREDENTIALS)
      const rootHost = `${name}.${ZONE}`
      const identityPath = await mkdtemp(join(tmpdir(), 'svc-end-to-end-'))
      const log = createLog('silent')
      const dns = await openExternalProvider(dialect.provider, {
        ...{ env: api.env, rootHost, identityPath, log },
        connection: { baseUrl: api.baseUrl, pauseMs: 0 },
        propagation: new Propagation({ servers: [bind9.address] }),
      })
      const authority = await newAuthority({
        host: rootHost,
        directory: identityPath,
        directoryUrl: acme.directoryUrl,
        caFile: acme.caFile,
        env: { ACME_CHALLENGE: 'dns-01' },
        dns,
      })
      const seen: string[][] = []
      const { onChange } = api.zone
      api.zone.onChange = async (before) => {
        await onChange?.(before)
        seen.push(api.zone.data(`_acme-challenge.${rootHost}`, 'TXT'))
      }
      try {
        const names = [rootHost, `*.${rootHost}`]
        const chain = await authority.obtain({
          names,
          csr: await createRequest(names, newKey()),
          for: 'root',
        })
        expect(new X509Certificate(chain).checkHost(`site.${rootHost}`)).toBe(`*.${rootHost}`)
        expect(Math.max(...seen.map((values) => values.length))).toBe(2)
        expect(api.zone.records).toEqual([])
      } finally {
        await authority.close()
        await dns.close()
        api.close()
        await rm(identityPath, { recursive: true })
      }
    },
  )
})
