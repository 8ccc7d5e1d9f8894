// Tests the times at which discovery announces itself, asks for whole lists and writes its file: real code, with a simulated clock.

import { afterEach, beforeEach, test as every, expect, vi } from 'vitest'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { createLog } from '../../src/core/log/log.ts'
import type { HttpClient, HttpRequest } from '../../src/core/outbound/http-client.ts'
import { OutboundError } from '../../src/core/outbound/outbound-error.ts'
import type { WriteHealth } from '../../src/core/storage/write-health.ts'
import { readDescriptor } from '../../src/features/discovery/descriptor-rules.ts'
import { DescriptorSignatures } from '../../src/features/discovery/descriptor-signatures.ts'
import { RelayDiscovery } from '../../src/features/discovery/discovery.ts'
import { KnownRelays } from '../../src/features/discovery/known-relays.ts'
import { DISCOVERY_LIMITS } from '../../src/features/discovery/limits.ts'
import { OwnDescriptor } from '../../src/features/discovery/own-descriptor.ts'
import { RelayQueries } from '../../src/features/discovery/relay-queries.ts'
import { RelaysFile } from '../../src/features/discovery/relays-file.ts'
import { type InventedRelay, inventRelay } from '../support/descriptors.ts'

const test = wholeOnly(every, 'clock')

const MINUTE_MS = 60_000
const STEP_MS = 1_000
const BOOTSTRAP = 'https://boot.example'
const OWN = 'https://own.example'
const log = createLog('silent')
const noState = () => ({ udp: false, tcp: false, connections: 0, bytes: 0 })

let time = 0
vi.mock('../../src/core/clock.ts', () => ({
  now: () => time,
  toWallTime: (moment: number) => moment,
  fromWallTime: (moment: number) => moment,
}))
beforeEach(() => {
  vi.useFakeTimers()
  time = Date.now()
})
afterEach(() => void vi.useRealTimers())

async function pass(ms: number): Promise<void> {
  for (const end = time + ms; time < end; ) {
    time += STEP_MS
    await vi.advanceTimersByTimeAsync(STEP_MS)
  }
}

/** One request that discovery made. */
interface Asked {
  url: string
  method: string
  at: number
}

/** A network of relays that answer at once, each for itself, and the bootstrap relay for those that it lists too. */
class Network {
  readonly asked: Asked[] = []
  readonly relays = new Map<string, InventedRelay>()
  /** A relay that names another one, even when it is asked for itself alone. */
  chatty: { origin: string; names: string } | undefined
  /** Origins whose public address does not answer. */
  readonly silent = new Set<string>()
  /** True when the bootstrap relay knows the one that is tested. */
  isOwnListed = true
  readonly #own = inventRelay()

  discover(): RelayDiscovery {
    const bootstraps = new Set([BOOTSTRAP])
    const { signal } = new AbortController()
    this.relays.set(BOOTSTRAP, inventRelay())
    const client: Pick<HttpClient, 'request'> = { request: (...request) => this.#answer(...request) }
    return new RelayDiscovery({
      own: new OwnDescriptor(OWN, this.#own, noState),
      bootstraps,
      allowsLoopback: false,
      isBanned: () => false,
      signatures: this.#trusting(),
      recoverSigner: async () => undefined,
      queries: (onIncompatible) => new RelayQueries(client, bootstraps, onIncompatible, signal),
      limits: DISCOVERY_LIMITS,
      signal,
      log,
    })
  }

  count(matches: (asked: Asked) => boolean): number {
    return this.asked.filter(matches).length
  }

  /** Signatures are not what is tested here, and would take most of the time. */
  #trusting(): DescriptorSignatures {
    const signatures = new DescriptorSignatures(async () => undefined)
    vi.spyOn(signatures, 'isGenuine').mockResolvedValue(true)
    return signatures
  }

  async #answer(url: string | URL, { method = 'GET' }: HttpRequest = {}) {
    this.asked.push({ url: `${url}`, method, at: time })
    const { origin, pathname } = new URL(url)
    if (/^https:..slow/.test(origin)) return await new Promise<never>(() => {})
    if (this.silent.has(origin)) throw new OutboundError('connection_failed', 'nobody is there')
    const { address: own } = this.#own
    const others =
      origin === BOOTSTRAP ? [...this.relays].map(([at, relay]) => this.#describe(at, relay)) : []
    const listed = origin === BOOTSTRAP && this.isOwnListed ? [{ api_https_addr: OWN, address: own }] : []
    const named = origin === this.chatty?.origin ? [this.#describe(this.chatty.names, inventRelay())] : []
    const relays = [this.#describe(origin, this.relays.get(origin)!), ...others, ...listed, ...named]
    const data = pathname === '/discovery' ? { protocol_version: '9', relays } : { protocol_version: '10' }
    const address = `198.51.${[...this.relays.keys()].indexOf(origin) >> 5}.1`
    return {
      url: new URL(url),
      address,
      status: 200,
      headers: {},
      body: Buffer.from(JSON.stringify({ ok: true, data })),
    }
  }

  /** The answer of a relay over the overlay to the question for itself. */
  overlayAnswer(origin: string, relay = this.relays.get(origin)!): string {
    return JSON.stringify({
      ok: true,
      data: { protocol_version: '9', relays: [this.#describe(origin, relay)] },
    })
  }

  #describe(origin: string, relay: InventedRelay) {
    const [issued_at, expires_at] = [time, time + 5 * MINUTE_MS].map((at) => new Date(at).toISOString())
    return { ...template, issued_at, expires_at, address: relay.address, api_https_addr: origin }
  }
}
const template = inventRelay().describe(OWN)

test('a bootstrap relay that knows this one is told once in 10 minutes; one that does not, at each poll', async () => {
  const network = new Network()
  const discovery = network.discover()
  discovery.start()
  const announcements = () => network.asked.filter(({ method }) => method === 'POST').map(({ at }) => at)
  await pass(60 * MINUTE_MS)
  const rare = announcements()
  const pauses = rare.slice(1).map((at, index) => at - rare[index]!)
  expect(pauses.length).toBeGreaterThanOrEqual(4)
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(10 * MINUTE_MS)
  // The poll after that.
  expect(Math.max(...pauses)).toBeLessThanOrEqual(
    10 * MINUTE_MS + 1.25 * DISCOVERY_LIMITS.pollMs + 2 * STEP_MS,
  )
  network.isOwnListed = false
  const before = network.asked.length
  await pass(20 * MINUTE_MS)
  const polls = network.asked.slice(before).filter(({ url }) => url === `${BOOTSTRAP}/discovery`).length
  expect(polls).toBeGreaterThanOrEqual(8)
  expect(announcements().length - rare.length).toBe(polls)
  discovery.close()
})

test('of 80 known relays some 8 in each interval are asked for their whole list, the others for themselves', async () => {
  const network = new Network()
  for (let index = 0; index < 79; index++) network.relays.set(`https://r${index}.example`, inventRelay())
  const discovery = network.discover()
  discovery.start()
  await pass(10 * MINUTE_MS)
  expect(discovery.relays.size).toBe(80)
  network.asked.length = 0
  await pass(120 * MINUTE_MS)
  discovery.close()
  const others = network.asked.filter(({ url }) => !url.startsWith(BOOTSTRAP))
  const whole = others.filter(({ url }) => url.endsWith('/discovery')).length
  expect(others.filter(({ url }) => url.endsWith('/discovery?relays=own')).length).toBe(others.length - whole)
  // Each is asked 48 to 60 times. A binomial distribution of 4,000 with a tenth is within 5 of its deviations practically always.
  expect(others.length / 79).toBeGreaterThan(45)
  expect(Math.abs(whole - others.length / 10)).toBeLessThan(5 * Math.sqrt(others.length * 0.1 * 0.9))
})

test('of 80 known relays the bootstrap relay is asked for its whole list every 10 minutes, and more often for news', async () => {
  const network = new Network()
  for (let index = 0; index < 79; index++) network.relays.set(`https://r${index}.example`, inventRelay())
  const discovery = network.discover()
  discovery.start()
  await pass(10 * MINUTE_MS)
  // By chance it is asked as every other relay is.
  const random = vi.spyOn(Math, 'random').mockReturnValue(0.99)
  const lists = () => network.asked.filter(({ url }) => url === `${BOOTSTRAP}/discovery`).map(({ at }) => at)
  network.asked.length = 0
  await pass(60 * MINUTE_MS)
  expect(lists().length).toBeGreaterThanOrEqual(4)
  const pauses = lists().flatMap((at, index, all) => (index > 0 ? [at - all[index - 1]!] : []))
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(10 * MINUTE_MS)
  // They never become known.
  for (let index = 0; index < 20; index++) network.relays.set(`https://slow${index}.example`, inventRelay())
  await pass(15 * MINUTE_MS)
  network.asked.length = 0
  await pass(15 * MINUTE_MS)
  expect(lists().length).toBeGreaterThanOrEqual(5)
  random.mockRestore()
  discovery.close()
})

test('of 8 relays each is asked for its whole list', async () => {
  const network = new Network()
  for (let index = 0; index < 7; index++) network.relays.set(`https://r${index}.example`, inventRelay())
  const discovery = network.discover()
  discovery.start()
  await pass(30 * MINUTE_MS)
  discovery.close()
  expect(network.count(({ url }) => url.endsWith('/discovery'))).toBeGreaterThan(80)
  expect(network.count(({ url, at }) => url.endsWith('?relays=own') && at > time - 20 * MINUTE_MS)).toBe(0)
})

test('a relay that is asked for itself alone is not heard about others', async () => {
  const network = new Network()
  for (let index = 0; index < 20; index++) network.relays.set(`https://r${index}.example`, inventRelay())
  const discovery = network.discover()
  discovery.start()
  await pass(4 * MINUTE_MS)
  expect(discovery.relays.size).toBe(21)
  // Only bootstrap relays are asked for whole lists then.
  const random = vi.spyOn(Math, 'random').mockReturnValue(0.99)
  network.chatty = { origin: 'https://r3.example', names: 'https://victim.example' }
  network.asked.length = 0
  await pass(10 * MINUTE_MS)
  expect(network.count(({ url }) => url === 'https://r3.example/discovery?relays=own')).toBeGreaterThan(2)
  expect(network.count(({ url }) => url.startsWith('https://victim.example'))).toBe(0)
  random.mockRestore()
  discovery.close()
})

test('a crowd of networks that announce slow relays holds up no relay that another one names', async () => {
  const network = new Network()
  const discovery = network.discover()
  discovery.start()
  const accepted: boolean[] = []
  for (let index = 0; index < 600; index++) {
    const descriptor = {
      ...template,
      address: `0x${index.toString(16).padStart(40, '0')}`,
      api_https_addr: `https://slow${index}.example`,
    }
    accepted.push(await discovery.announce('9', descriptor, `203.0.${index}`))
  }
  expect(accepted.indexOf(false)).toBe(512)
  expect(accepted.slice(512)).not.toContain(true)
  for (let index = 0; index < 20; index++) network.relays.set(`https://r${index}.example`, inventRelay())
  await pass(4 * MINUTE_MS)
  expect(discovery.relays.size).toBe(21)
  discovery.close()
})

test('a relay whose public address does not answer stays a peer while it answers over the overlay, and is not passed on', async () => {
  const network = new Network()
  const origin = 'https://r0.example'
  network.relays.set(origin, inventRelay())
  const discovery = network.discover()
  const answer = vi.fn(async (at: string, _path: string) => network.overlayAnswer(at))
  discovery.useOverlay(answer)
  discovery.start()
  await pass(5 * MINUTE_MS)
  expect(discovery.relays.currentAt(origin, time)).toBeDefined()
  expect(answer).not.toHaveBeenCalled()
  network.silent.add(origin)
  // Its descriptor of before has expired by then.
  await pass(30 * MINUTE_MS)
  expect(answer).toHaveBeenCalledWith(origin, '/discovery?relays=own', expect.anything())
  expect(discovery.relays.peerAt(origin, time)?.origin).toBe(origin)
  expect(discovery.relays.currentAt(origin, time)).toBeUndefined()
  // What another relay says there is not heard.
  const other = inventRelay()
  answer.mockImplementation(async (at) => network.overlayAnswer(at, other))
  await pass(15 * MINUTE_MS)
  expect(discovery.relays.peerAt(origin, time)).toBeUndefined()
  answer.mockImplementation(async (at) => network.overlayAnswer(at))
  await pass(15 * MINUTE_MS)
  expect(discovery.relays.peerAt(origin, time)).toBeDefined()
  answer.mockRejectedValue(new Error('the relay is no peer'))
  await pass(15 * MINUTE_MS)
  expect(discovery.relays.peerAt(origin, time)).toBeUndefined()
  network.silent.clear()
  await pass(15 * MINUTE_MS)
  expect(discovery.relays.currentAt(origin, time)).toBeDefined()
  discovery.close()
})

test('the file is written again every 10 minutes when no relay came or went, and not when none is known', async () => {
  const relays = new KnownRelays(() => false)
  const writes: number[] = []
  const watch = async (): Promise<void> => void writes.push(time)
  const health = { watch } as unknown as WriteHealth
  const file = new RelaysFile({ directory: '/nowhere', relays, health, log })
  const start = time
  await pass(60 * MINUTE_MS)
  expect(writes).toEqual([])
  const read = readDescriptor(inventRelay().describe(OWN), false)
  relays.confirm(read, { network: '', release: '' }, time)
  await pass(60 * MINUTE_MS)
  // The first is that of the newcomer, at once.
  expect(writes.map((at) => Math.floor((at - start) / MINUTE_MS))).toEqual([60, 71, 81, 91, 101, 111])
  await file.close()
  expect(writes).toHaveLength(7)
})
