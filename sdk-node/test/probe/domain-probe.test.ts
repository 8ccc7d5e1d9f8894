// The self-probe at a custom domain: a relay that passes TLS through, and one that answers there with a certificate of its own.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createServer } from 'node:tls'
import { ownershipRecordValue } from '@svc/protocol'
import { identityFromKey } from '@svc/sdk-core'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { createCa, createLeaf } from '../../../relay/src/core/certificates/development-ca.ts'
import { type DnsServer, startDnsServer } from '../../../tools/dns/dns-server.ts'
import { type Front, startFront } from '../../../tools/relay/front.ts'
import { type ExposeOptions, type Exposure, expose, type ProbeReport } from '../../src/index.ts'
import { DOMAIN_PROBE_PAUSE_MS } from '../../src/probe/domain-probes.ts'
import { withoutHaste } from '../support/probe-haste.ts'
import { freePort, startTestRelay, type TestRelay } from '../support/relay.ts'

/** Sockets find it at this machine. */
const DOMAIN = 'shop.example.localhost'
/** Another address of this machine, at which no relay is. */
const ELSEWHERE = '127.0.0.2'
const dnsOfVisitors = vi.hoisted(() => ({ moved: false }))
vi.mock('../../src/net/localhost-lookup.ts', async (original) => {
  const real = await original<typeof import('../../src/net/localhost-lookup.ts')>()
  const localhostLookup: typeof real.localhostLookup = (hostname, options, callback) => {
    if (hostname !== DOMAIN || !dnsOfVisitors.moved) real.localhostLookup(hostname, options, callback)
    else if (options.all) callback(null, [{ address: ELSEWHERE, family: 4 }])
    else callback(null, ELSEWHERE, 4)
  }
  return { localhostLookup }
})
const identity = Uint8Array.from(randomBytes(32))

let dns: DnsServer
let relay: TestRelay
let front: Front
let publicPort: number
let exposure: Exposure
let reports: Pick<ProbeReport, 'domain' | 'verdict'>[]

beforeAll(async () => {
  publicPort = await freePort()
  const { address } = identityFromKey(identity)
  dns = await startDnsServer({
    [`_svc.${DOMAIN} TXT`]: [ownershipRecordValue(address.toLowerCase())],
    [`${DOMAIN} A`]: ['127.0.0.1'],
  })
  relay = await startTestRelay({
    SVC_URL: `https://relay.localhost:${publicPort}`,
    CUSTOM_DOMAIN_RESOLVERS: `127.0.0.1:${dns.port}`,
  })
  front = startFront({ port: publicPort, relayPort: relay.port, domain: DOMAIN })
})
afterEach(async () => {
  vi.restoreAllMocks()
  dnsOfVisitors.moved = false
  front.mode = 'pass'
  await exposure.close()
})
afterAll(async () => {
  front.close()
  await Promise.all([relay.close(), dns.close()])
})

async function start(options: Partial<ExposeOptions> = {}): Promise<void> {
  withoutHaste()
  reports = []
  exposure = await expose({
    relay: `https://relay.localhost:${publicPort}`,
    ca: relay.ca,
    identity,
    fetch: () => new Response('hello'),
    // Its authority is one that nobody trusts.
    domains: [{ domain: DOMAIN, certificate: createLeaf(createCa(DOMAIN), DOMAIN, [DOMAIN]) }],
    onProbe: ({ domain, verdict }) => reports.push({ domain, verdict }),
    ...options,
  })
}

it('sees nothing at a relay that passes TLS through, without a visitor (protocol §13.1.5)', async () => {
  await start()
  await expect.poll(() => reports).toEqual([{ domain: DOMAIN, verdict: 'not_seen_from_here' }])
})

it.each<[string, () => Promise<{ chain: string; key: string }>]>([
  [
    'its own, which its CA signed',
    async () => {
      const names = ['fullchain.pem', 'privatekey.pem'].map((name) => join(dirname(relay.caFile), name))
      const [chain, key] = await Promise.all(names.map((name) => readFile(name, 'utf8')))
      return { chain: chain!, key: key! }
    },
  ],
  ['one for the domain', async () => createLeaf(createCa(DOMAIN), DOMAIN, [DOMAIN])],
])('suspects a relay that answers with a certificate: %s (protocol §13.1.5)', async (_which, made) => {
  const { chain, key } = await made()
  front.useKeyPair(chain, key)
  front.mode = 'terminate'
  await start()
  await expect.poll(() => reports).toEqual([{ domain: DOMAIN, verdict: 'suspected' }])
  expect(exposure.sites[0]!.state).toBe('online')
})

it('visits a domain again after a while, and leaves the relay with banMitm', async () => {
  await start({ banMitm: true })
  await expect.poll(() => reports).toHaveLength(1)
  const { chain, key } = createLeaf(createCa(DOMAIN), DOMAIN, [DOMAIN])
  front.useKeyPair(chain, key)
  front.mode = 'terminate'
  const [site] = exposure.sites
  site!.dispatchEvent(new Event('domainschange'))
  const now = performance.now()
  const clock = vi.spyOn(performance, 'now').mockReturnValue(now + DOMAIN_PROBE_PAUSE_MS)
  site!.dispatchEvent(new Event('domainschange'))
  clock.mockRestore()
  await expect.poll(() => site!.state).toBe('closed')
  expect(reports.map(({ verdict }) => verdict)).toEqual(['not_seen_from_here', 'suspected'])
  expect(exposure.failures).toMatchObject([
    { relay: `https://relay.localhost:${publicPort}`, error: { code: 'relay_suspected' } },
  ])
})

it('takes a domain that its owner leads elsewhere for no interception (protocol §13.1.5)', async () => {
  const { key, chain } = createLeaf(createCa(DOMAIN), DOMAIN, [DOMAIN])
  const elsewhere = createServer({ key, cert: chain }).listen(publicPort, ELSEWHERE)
  await once(elsewhere, 'listening')
  try {
    dnsOfVisitors.moved = true
    await start({ banMitm: true })
    await expect.poll(() => reports).toEqual([{ domain: DOMAIN, verdict: 'failed' }])
    const [site] = exposure.sites
    expect(site!.state).toBe('online')
    dnsOfVisitors.moved = false
    const now = performance.now()
    const clock = vi.spyOn(performance, 'now').mockReturnValue(now + DOMAIN_PROBE_PAUSE_MS)
    site!.dispatchEvent(new Event('domainschange'))
    clock.mockRestore()
    await expect.poll(() => reports.at(-1)?.verdict).toBe('not_seen_from_here')
    expect(site!.state).toBe('online')
  } finally {
    elsewhere.close()
  }
})
