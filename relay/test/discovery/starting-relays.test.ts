// Relays that start together, or one after the other: when they know each other. Real code, a simulated clock and network.

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createLog } from '../../src/core/log/log.ts'
import type { HttpClient, HttpRequest } from '../../src/core/outbound/http-client.ts'
import { OutboundError } from '../../src/core/outbound/outbound-error.ts'
import { DescriptorSignatures } from '../../src/features/discovery/descriptor-signatures.ts'
import { RelayDiscovery } from '../../src/features/discovery/discovery.ts'
import { DISCOVERY_LIMITS } from '../../src/features/discovery/limits.ts'
import { OwnDescriptor } from '../../src/features/discovery/own-descriptor.ts'
import { RelayQueries } from '../../src/features/discovery/relay-queries.ts'
import { inventRelay } from '../support/descriptors.ts'

const STEP_MS = 500
const noState = () => ({ udp: false, tcp: false, connections: 0, bytes: 0 })

let time = 0
vi.mock('../../src/core/clock.ts', () => ({
  now: () => time,
  toWallTime: (moment: number) => moment,
  fromWallTime: (moment: number) => moment,
}))
beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'],
  })
  time = Date.now()
})
afterEach(() => void vi.useRealTimers())

/** Relays by origin, of which only those answer that have started. */
class Network {
  readonly #started = new Map<string, { discovery: RelayDiscovery; own: OwnDescriptor }>()

  /** A relay that listens and has its certificate. */
  start(name: string, bootstraps: readonly string[]): void {
    const origin = originOf(name)
    const own = new OwnDescriptor(origin, inventRelay(), noState)
    const origins = new Set(bootstraps.map(originOf))
    const { signal } = new AbortController()
    const client: Pick<HttpClient, 'request'> = {
      request: (url, request) => this.#answer(origin, `${url}`, request),
    }
    const signatures = new DescriptorSignatures(async () => undefined)
    vi.spyOn(signatures, 'isGenuine').mockResolvedValue(true)
    const discovery = new RelayDiscovery({
      own,
      bootstraps: origins,
      allowsLoopback: false,
      isBanned: () => false,
      signatures,
      recoverSigner: async () => undefined,
      queries: (onIncompatible) => new RelayQueries(client, origins, onIncompatible, signal),
      limits: DISCOVERY_LIMITS,
      signal,
      log: createLog('silent'),
    })
    this.#started.set(origin, { discovery, own })
    discovery.start()
  }

  /** The relays that each passes on, by its name. */
  get known(): Record<string, string[]> {
    return Object.fromEntries(
      Array.from(this.#started, ([origin, { discovery }]) => [
        nameOf(origin),
        Array.from(discovery.relays.current(time), (relay) => nameOf(relay.origin)).sort(),
      ]),
    )
  }

  close(): void {
    for (const { discovery } of this.#started.values()) discovery.close()
  }

  async #answer(from: string, url: string, { body }: HttpRequest = {}) {
    const { origin, pathname } = new URL(url)
    const asked = this.#started.get(origin)
    if (asked === undefined) throw new OutboundError('connection_failed', 'nobody is there')
    const data = await dataOf(asked, from, pathname, body)
    return {
      url: new URL(url),
      address: `198.51.${origin.charCodeAt(8)}.1`,
      status: 200,
      headers: {},
      body: Buffer.from(JSON.stringify({ ok: true, data })),
    }
  }
}

async function dataOf(
  { discovery, own }: { discovery: RelayDiscovery; own: OwnDescriptor },
  from: string,
  pathname: string,
  body: HttpRequest['body'],
): Promise<object> {
  if (pathname === '/discovery') return discovery.answer(await own.current(), true)
  if (pathname !== '/discovery/announce') return { protocol_version: '10' }
  const { protocol_version, descriptor } = JSON.parse(`${body}`)
  return { accepted: await discovery.announce(protocol_version, descriptor, from) }
}

const originOf = (name: string): string => `https://${name}.example`
const nameOf = (origin: string): string => new URL(origin).hostname.split('.')[0]!

async function pass(ms: number): Promise<void> {
  for (const end = time + ms; time < end; ) {
    time += STEP_MS
    await vi.advanceTimersByTimeAsync(STEP_MS)
    // The list of a relay is read in turns of the event loop.
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const ALL = { a: ['b', 'c'], b: ['a', 'c'], c: ['a', 'b'] }

test.each([
  ['one bootstrap relay', { a: [], b: ['a'], c: ['a'] }],
  ['each its own', { a: ['b', 'c'], b: ['a', 'c'], c: ['a', 'b'] }],
  ['a chain of them', { a: [], b: ['a'], c: ['b'] }],
])(
  'three relays with %s that start within 20 s, in any order, know each other in a minute',
  async (_what, bootstraps) => {
    for (const order of ['abc', 'acb', 'bac', 'bca', 'cab', 'cba']) {
      const network = new Network()
      for (const name of order) {
        network.start(name, bootstraps[name as keyof typeof bootstraps])
        await pass(10_000)
      }
      await pass(50_000)
      expect(network.known, order).toEqual(ALL)
      network.close()
    }
  },
)

test('a relay that comes an hour later is known to all within seconds', async () => {
  const network = new Network()
  network.start('a', [])
  network.start('b', ['a'])
  await pass(60 * 60_000)
  network.start('c', ['a'])
  await pass(10_000)
  network.close()
  expect(network.known).toEqual(ALL)
})
