// The self-probe (specification, "Self-probe"): a relay that passes TLS through, one that terminates it, for all or not for the site
// itself, and one that is only slow.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { PROBE_COOLDOWN_MS } from '@svc/protocol'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { CERTIFICATE_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { describeRelay } from '../../../sdk-core/test/support/relay-descriptors.ts'
import { RelayDouble } from '../../../sdk-core/test/support/relay-double.ts'
import { type Front, startFront } from '../../../tools/relay/front.ts'
import { type ExposeOptions, type Exposure, expose, type ProbeVerdict } from '../../src/index.ts'
import { text, visit } from '../support/exposed.ts'
import { withoutHaste } from '../support/probe-haste.ts'
import { freePort, startTestRelay, type TestRelay } from '../support/relay.ts'

let relay: TestRelay
let front: Front
let publicPort: number
let exposure: Exposure
let verdicts: ProbeVerdict[]

beforeAll(async () => {
  publicPort = await freePort()
  relay = await startTestRelay({ SVC_URL: `https://relay.localhost:${publicPort}` })
  const state = dirname(relay.caFile)
  const [cert, key] = await Promise.all(
    ['fullchain.pem', 'privatekey.pem'].map((name) => readFile(join(state, name), 'utf8')),
  )
  front = startFront({ port: publicPort, relayPort: relay.port })
  front.useKeyPair(cert!, key!)
})
afterAll(async () => {
  front.close()
  await relay.close()
})
afterEach(async () => {
  vi.restoreAllMocks()
  front.mode = 'pass'
  front.spares = () => false
  await exposure.close()
})

async function start(options: Partial<ExposeOptions> = {}): Promise<string> {
  verdicts = []
  exposure = await expose({
    relay: `https://relay.localhost:${publicPort}`,
    ca: relay.ca,
    name: `probed${randomBytes(4).toString('hex')}`,
    identity: Uint8Array.from(randomBytes(32)),
    fetch: () => new Response('hello'),
    onProbe: ({ verdict }) => verdicts.push(verdict),
    ...options,
  })
  return exposure.sites[0]!.url
}

/** Visits the relay itself, past whatever stands before it. */
const visitor = async (url: string): Promise<string> => text(await visit(relay, url))

it.each(['native', 'websocket'] as const)(
  'nothing is seen from here at a relay that passes TLS through (%s), and visitors notice nothing (protocol §13.1.2, §13.1.3)',
  async (carrier) => {
    withoutHaste()
    const url = await start({ carrier })
    expect(await visitor(url)).toBe('hello')
    expect(await visitor(url)).toBe('hello')
    await expect.poll(() => verdicts).toEqual(['not_seen_from_here'])
    // the next one is not due
    expect(await visitor(url)).toBe('hello')
    expect(verdicts).toHaveLength(1)
  },
)

it('TLS that ends on the way is suspected, and only told (protocol §13.1.4)', async () => {
  withoutHaste()
  const url = await start()
  front.mode = 'terminate'
  await visitor(url)
  await expect.poll(() => verdicts).toEqual(['suspected'])
  expect(exposure.sites[0]!.state).toBe('online')
})

it('a relay that spares the address of the site reads visitors unnoticed, and no verdict says otherwise', async () => {
  withoutHaste()
  const url = await start({ banMitm: true })
  front.mode = 'terminate'
  front.spares = (address) => address === '127.0.0.1'
  const { hostname } = new URL(url)
  const victim = connect({ port: publicPort, host: '127.0.0.1', localAddress: '127.0.0.2' })
  const socket = connectTls({ socket: victim, servername: hostname, ca: relay.ca })
  socket.write(`GET / HTTP/1.1\r\nHost: ${new URL(url).host}\r\nCookie: session=secret\r\n\r\n`)
  await once(socket, 'data')
  expect(front.read.join('')).toContain('session=secret')
  await expect.poll(() => verdicts).toEqual(['not_seen_from_here'])
  expect(exposure.sites[0]!.state).toBe('online')
  socket.destroy()
})

it('with banMitm that relay is left', async () => {
  withoutHaste()
  const url = await start({ banMitm: true })
  const [site] = exposure.sites
  front.mode = 'terminate'
  await visitor(url)
  await expect.poll(() => site!.state).toBe('closed')
  expect(verdicts).toEqual(['suspected'])
  expect(exposure.sites).toEqual([])
  expect(exposure.failures).toMatchObject([{ error: { code: 'relay_suspected' } }])
  await exposure.ended
})

it('with banMitm and discover another relay takes its place', async () => {
  withoutHaste()
  const named = await RelayDouble.start()
  const next = await RelayDouble.start()
  const domain = { protocol_version: '10', release_version: '0.1.0' }
  next.overrides['/sdk/domain'] = () => [200, { ok: true, data: domain }]
  // the first one is nearer by what it says of itself
  const relays = [
    describeRelay(`https://relay.localhost:${publicPort}`),
    describeRelay(next.url, { active_connections: 1e6, tcp_bps: 1e9 }),
  ]
  named.overrides['/discovery'] = () => [200, { ok: true, data: { protocol_version: '10', relays } }]
  const options = {
    relay: named.url,
    ca: relay.ca + CERTIFICATE_PEM,
    carrier: 'websocket',
    discover: 1,
  } as const
  await start({ ...options, name: 'demo', banMitm: true })
  const { url } = exposure.sites[1]!
  expect(new URL(url).port).toBe(String(publicPort))
  front.mode = 'terminate'
  await visitor(url)
  await expect
    .poll(() => exposure.sites.map(({ url }) => Number(new URL(url).port)))
    .toEqual([named.port, next.port])
  expect(verdicts).toEqual(['suspected'])
  await exposure.close()
  await Promise.all([named.crash(), next.crash()])
})

it('a relay that is slow is not called guilty, and is asked again behind the cooldown (protocol §13.1.1, §13.1.4)', async () => {
  const url = await start({ banMitm: true })
  front.mode = 'stall'
  await visitor(url)
  await expect.poll(() => verdicts).toEqual(['failed'])
  expect(exposure.sites[0]!.state).toBe('online')
  front.mode = 'pass'
  const now = performance.now()
  withoutHaste()
  const clock = vi.spyOn(performance, 'now').mockReturnValue(now + PROBE_COOLDOWN_MS)
  await visitor(url)
  clock.mockRestore()
  await expect.poll(() => verdicts).toEqual(['failed', 'not_seen_from_here'])
})
