// The network between a site and its relay fails in every way: the site comes back, and nothing of before is left.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Site } from '@svc/sdk-node'
import { type FaultyRelay, startFaultyRelay } from '../tools/relay/faulty-relay.ts'
import { publishNode, type Visitor, visitorOf } from '../tools/site/node-site.ts'
import { atDepth, wholeOnly } from '../tools/test-depth.ts'
import { test as base, expect } from './fixtures.ts'

interface Fixtures {
  faultyRelay: FaultyRelay
  site: Site
  client: Visitor
}

const FAULTLESS: Pick<FaultyRelay['proxy'], 'delayMs' | 'pieceBytes' | 'isDown'> = {
  delayMs: 0,
  pieceBytes: Number.POSITIVE_INFINITY,
  isDown: false,
}

const test = base.extend<Fixtures>({
  faultyRelay: async ({ oncePerFile }, use) =>
    use(await oncePerFile('faulty relay', () => startFaultyRelay())),
  site: async ({ faultyRelay: relay }, use) => {
    const site = await publishNode(relay, `faulty-${randomUUID().slice(0, 8)}`, {
      fetch: async (request) =>
        new Response(request.method === 'POST' ? await request.arrayBuffer() : `hello ${request.url}`),
    })
    await use(site)
    Object.assign(relay.proxy, FAULTLESS)
    await site.close()
  },
  client: async ({ faultyRelay: relay, site }, use) => {
    const visitor = visitorOf(site, relay)
    await use(visitor)
    visitor.close()
  },
})

/** Milliseconds within which a site is there again. It ends what hangs. */
const BACK_MS = 60_000
/** Cuts before memory is measured, which grows with the first ones, and cuts within which it may not grow. */
const CUTS = { first: atDepth(10, 5), measured: atDepth(20, 10) }
const RESTARTS: number = atDepth(5, 2)
/** Bytes by which memory may grow with one cut; what belongs to one connection is more. */
const GROWTH_MAX_BYTES = { site: 150_000, relay: 1_000_000 }

/** Expects the site to be there, as it was at the start. */
async function isBack(site: Site, visitor: Visitor): Promise<void> {
  const timeout = BACK_MS
  await expect(async () => expect(String(await visitor.get('/'))).toBe(`hello ${site.url}/`)).toPass({
    timeout,
  })
  expect(site.state).toBe('online')
  await expect.poll(() => site.stats(), { timeout }).toMatchObject({ openStreams: 0, webSockets: 1 })
  expect(site.stats().readyStreams).toBeGreaterThanOrEqual(2)
  expect(site.stats().readyStreams).toBeLessThanOrEqual(8)
}

test.describe.configure({ mode: 'parallel' })

test('a cut: visitors who come meanwhile wait, and are served', async ({
  faultyRelay: relay,
  site,
  client: visitor,
}) => {
  const { url } = site
  relay.proxy.cut()
  expect(String(await visitor.get('/meanwhile'))).toBe(`hello ${url}/meanwhile`)
  await isBack(site, visitor)
  expect(site.url).toBe(url)
  expect(site.stats().reconnects).toBe(1)
})

wholeOnly(test, 'faults')(
  `${CUTS.first + CUTS.measured} cuts leave no stream and no memory`,
  async ({ faultyRelay: relay, site, client: visitor }) => {
    setFlagsFromString('--expose-gc')
    const gc: () => void = runInNewContext('gc')
    const heap = (): number => {
      gc()
      return process.memoryUsage().heapUsed
    }
    const cuts = async (count: number): Promise<void> => {
      for (let cut = 0; cut < count; cut++) {
        relay.proxy.cut()
        await isBack(site, visitor)
      }
    }
    await cuts(CUTS.first)
    const [before, relayBefore] = [heap(), await relay.rss()]
    await cuts(CUTS.measured)
    expect(heap() - before).toBeLessThan(CUTS.measured * GROWTH_MAX_BYTES.site)
    expect((await relay.rss()) - relayBefore).toBeLessThan(CUTS.measured * GROWTH_MAX_BYTES.relay)
  },
)

wholeOnly(test, 'faults')(
  'silence: noticed, and the relay drops what it still held',
  async ({ faultyRelay: relay, site, client: visitor }) => {
    const noticed = once(site, 'statechange')
    relay.proxy.stall()
    await noticed
    expect(site.state).not.toBe('online')
    await isBack(site, visitor)
  },
)

test('half-open: the relay believes in the old WebSocket, and visitors go to the new one', async ({
  faultyRelay: relay,
  site,
  client: visitor,
}) => {
  relay.proxy.halfOpen()
  await expect.poll(() => site.stats().reconnects).toBe(1)
  for (let visit = 0; visit < 10; visit++) await visitor.get('/')
  await isBack(site, visitor)
})

wholeOnly(test, 'faults')('delay: slow, and whole', async ({ faultyRelay: relay, site, client: visitor }) => {
  relay.proxy.delayMs = 100
  const body = Buffer.alloc(2_000_000, 'delayed')
  expect((await visitor.get('/', body)).equals(body)).toBe(true)
  await isBack(site, visitor)
  expect(site.stats()).toMatchObject({ reconnects: 0, rttMs: expect.any(Number) })
})

wholeOnly(test, 'faults')(
  'pieces of one byte: slow, and whole',
  async ({ faultyRelay: relay, site, client: visitor }) => {
    relay.proxy.pieceBytes = 1
    const body = Buffer.alloc(50_000, 'split')
    expect((await visitor.get('/', body)).equals(body)).toBe(true)
    relay.proxy.cut()
    await isBack(site, visitor)
  },
)

test('no network for a while: visitors are refused, and served when it is back', async ({
  faultyRelay: relay,
  site,
  client: visitor,
}) => {
  relay.proxy.isDown = true
  relay.proxy.cut()
  await expect(visitor.get('/late')).rejects.toThrow()
  expect(site.state).toBe('reconnecting')
  relay.proxy.isDown = false
  await isBack(site, visitor)
})

test('a relay that is killed and started again: public requests succeed soon', async ({
  faultyRelay: relay,
  site,
  client: visitor,
}) => {
  for (let restart = 0; restart < RESTARTS; restart++) {
    await relay.kill()
    await relay.start()
    // The benchmark says how many seconds it takes.
    await isBack(site, visitor)
  }
})
