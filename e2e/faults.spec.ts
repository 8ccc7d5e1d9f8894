// The network between a site and its relay fails in every way: the site comes back, and nothing of before is left.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { test as base, expect } from '@playwright/test'
import type { Site } from '@svc/sdk-node'
import { type FaultyRelay, startFaultyRelay } from '../tools/relay/faulty-relay.ts'
import { publishNode, type Visitor, visitorOf } from '../tools/site/node-site.ts'

interface Fixtures {
  relay: FaultyRelay
  site: Site
  visitor: Visitor
}

const test = base.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures that are needed
  relay: async ({}, use) => {
    const relay = await startFaultyRelay()
    await use(relay)
    await relay.stop()
  },
  site: async ({ relay }, use) => {
    const site = await publishNode(relay, 'faulty', {
      fetch: async (request) =>
        new Response(request.method === 'POST' ? await request.arrayBuffer() : `hello ${request.url}`),
    })
    await use(site)
    await site.close()
  },
  visitor: async ({ relay, site }, use) => {
    const visitor = visitorOf(site, relay)
    await use(visitor)
    visitor.close()
  },
})

/** Milliseconds with those of the operating system and a busy machine; a page notices silence in less than 20 s. */
const NOTICED_MS = 20_000

/** Expects the site to be there, as it was at the start. */
async function isBack(site: Site, visitor: Visitor, timeout = 10_000): Promise<void> {
  await expect(async () => expect(String(await visitor.get('/'))).toBe(`hello ${site.url}/`)).toPass({
    timeout,
  })
  expect(site.state).toBe('online')
  await expect.poll(() => site.stats(), { timeout }).toMatchObject({ openStreams: 0, webSockets: 1 })
  expect(site.stats().readyStreams).toBeGreaterThanOrEqual(2)
  expect(site.stats().readyStreams).toBeLessThanOrEqual(8)
}

/** @returns when the site left the state `online`, in milliseconds from now */
function noticed(site: Site): Promise<number> {
  const from = Date.now()
  return new Promise((resolve) => {
    site.addEventListener('statechange', () => resolve(Date.now() - from), { once: true })
  })
}

test.describe.configure({ mode: 'parallel' })

test('a cut: visitors who come meanwhile wait, and are served', async ({ relay, site, visitor }) => {
  const { url } = site
  relay.proxy.cut()
  expect(String(await visitor.get('/meanwhile'))).toBe(`hello ${url}/meanwhile`)
  await isBack(site, visitor)
  expect(site.url).toBe(url)
  expect(site.stats().reconnects).toBe(1)
})

test('30 cuts leave no stream and no memory', async ({ relay, site, visitor }) => {
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
  await cuts(10)
  const [before, relayBefore] = [heap(), await relay.rss()]
  await cuts(20)
  expect(heap() - before).toBeLessThan(3e6)
  expect((await relay.rss()) - relayBefore).toBeLessThan(20e6)
})

test('silence: noticed in time, and the relay drops what it still held', async ({ relay, site, visitor }) => {
  relay.proxy.stall()
  expect(await noticed(site)).toBeLessThan(NOTICED_MS)
  await isBack(site, visitor)
})

test('half-open: the relay believes in the old WebSocket, and visitors go to the new one', async ({
  relay,
  site,
  visitor,
}) => {
  relay.proxy.halfOpen()
  await expect.poll(() => site.stats().reconnects).toBe(1)
  for (let visit = 0; visit < 10; visit++) await visitor.get('/')
  await isBack(site, visitor)
})

test('delay: slow, and whole', async ({ relay, site, visitor }) => {
  relay.proxy.delayMs = 100
  const body = Buffer.alloc(2_000_000, 'delayed')
  expect((await visitor.get('/', body)).equals(body)).toBe(true)
  await isBack(site, visitor)
  expect(site.stats()).toMatchObject({ reconnects: 0, rttMs: expect.any(Number) })
})

test('pieces of one byte: slow, and whole', async ({ relay, site, visitor }) => {
  relay.proxy.pieceBytes = 1
  const body = Buffer.alloc(50_000, 'split')
  expect((await visitor.get('/', body)).equals(body)).toBe(true)
  relay.proxy.cut()
  await isBack(site, visitor)
})

test('no network for a while', async ({ relay, site, visitor }) => {
  relay.proxy.isDown = true
  relay.proxy.cut()
  const waiting = visitor.get('/late')
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  expect(site.state).toBe('reconnecting')
  relay.proxy.isDown = false
  expect(String(await waiting)).toBe(`hello ${site.url}/late`)
  await isBack(site, visitor)
})

test('a relay that is killed and started again: public requests succeed soon', async ({
  relay,
  site,
  visitor,
}) => {
  for (let restart = 0; restart < 5; restart++) {
    await relay.kill()
    await relay.start()
    // The site comes back within seconds each time: no pause has grown long. The benchmark says how many seconds.
    await isBack(site, visitor)
  }
})
