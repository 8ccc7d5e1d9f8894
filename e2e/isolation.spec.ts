// A slow party harms no other: a slow visitor no other visitors, and a slow page not its relay.
import { type FaultyRelay, startFaultyRelay } from '../tools/relay/faulty-relay.ts'
import { publishNode, type Visitor, visitorOf } from '../tools/site/node-site.ts'
import { atDepth, wholeOnly } from '../tools/test-depth.ts'
import { test as base, expect } from './fixtures.ts'

const test = base.extend<{ faultyRelay: FaultyRelay }>({
  faultyRelay: async ({ oncePerFile }, use) =>
    use(await oncePerFile('faulty relay', () => startFaultyRelay())),
})

const MiB: number = 1024 * 1024
/** Bytes by which memory may grow while 200 MiB are sent; resident memory also holds garbage that is not collected yet. */
const GROWTH_MAX_BYTES: number = 64 * MiB
/** Bytes of a transfer that moves, before one that does not. */
const MOVING_BYTES: number = atDepth(20, 8) * MiB
const VISITS = 25
/** The bound on a visit beside slow visitors: so many times as long as alone, or so many milliseconds on a machine with other work. */
const SLOWNESS_MAX = 10
const BUSY_MS = 5_000

function endless(): ReadableStream<Uint8Array> {
  const chunk = new Uint8Array(64 * 1024)
  return new ReadableStream({ pull: (controller) => controller.enqueue(chunk.slice()) })
}

wholeOnly(test, 'variant')(
  'visitors who do not read do not slow others, on the same WebSocket',
  async ({ faultyRelay: relay }) => {
    const site = await publishNode(relay, 'slow-visitors', {
      fetch: (request) => new Response(request.url.endsWith('/endless') ? endless() : 'quick'),
    })
    const quick = visitorOf(site, relay)
    const alone = await medianVisitMs(quick)
    const slow = visitorOf(site, relay)
    const stuck = await Promise.all(Array.from({ length: 16 }, () => slow.open('/endless')))
    expect(await medianVisitMs(quick)).toBeLessThan(Math.max(SLOWNESS_MAX * alone, BUSY_MS))
    expect(site.stats().openStreams).toBeGreaterThanOrEqual(stuck.length)
    for (const response of stuck) response.destroy()
    await expect.poll(() => site.stats().openStreams).toBe(0)
    await site.close()
  },
)

wholeOnly(test, 'faults')(
  'a page that reads nothing of 200 MiB costs the relay its windows, not more',
  async ({ faultyRelay: relay }) => {
    const asked = Promise.withResolvers<void>()
    const site = await publishNode(relay, 'slow-page', {
      fetch: (request) => {
        if (request.method === 'GET') return new Response('quick')
        asked.resolve()
        return new Promise<Response>(() => {})
      },
    })
    const visitor = visitorOf(site, relay)
    await visitor.get('/')
    const before = await relay.rss()
    const uploads = Array.from({ length: 4 }, () =>
      visitor.get('/upload', Buffer.alloc(50 * MiB)).catch((error: Error) => error),
    )
    const failed = Promise.all(uploads).then(([error]) => Promise.reject(error))
    await Promise.race([asked.promise, failed])
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    expect((await relay.rss()) - before).toBeLessThan(GROWTH_MAX_BYTES)
    expect(String(await visitor.get('/'))).toBe('quick')
    await site.close()
    for (const upload of uploads) expect(await upload).toBeInstanceOf(Error)
    await expect(failed).rejects.toBeInstanceOf(Error)
  },
)

test('a page whose WebSocket does not move costs the relay its buffers, not more', async ({
  faultyRelay: relay,
}) => {
  const site = await publishNode(relay, 'stalled-page', {
    fetch: async (request) => new Response(String((await request.arrayBuffer()).byteLength)),
  })
  const visitor = visitorOf(site, relay)
  // the cost of a transfer that moves is not measured here
  expect(String(await visitor.get('/upload', Buffer.alloc(MOVING_BYTES)))).toBe(String(MOVING_BYTES))
  const { bytesIn } = site.stats()
  const before = await relay.rss()
  const upload = visitor.get('/upload', Buffer.alloc(200 * MiB)).catch((error: Error) => error)
  await expect.poll(() => site.stats().bytesIn).toBeGreaterThan(bytesIn + MiB)
  relay.proxy.stall()
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  expect((await relay.rss()) - before).toBeLessThan(GROWTH_MAX_BYTES)
  relay.proxy.cut()
  expect(await upload).toBeInstanceOf(Error)
  await site.close()
})

/** @returns the median of the milliseconds that visits take, one after another, each on a connection of its own */
async function medianVisitMs(visitor: Visitor): Promise<number> {
  const times: number[] = []
  for (let visit = 0; visit < VISITS; visit++) {
    const from = performance.now()
    expect(String(await visitor.get('/'))).toBe('quick')
    times.push(performance.now() - from)
  }
  return times.toSorted((one, other) => one - other)[(VISITS - 1) / 2]!
}
