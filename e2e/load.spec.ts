// Many requests on one WebSocket: one after another, and at the same time. Nothing is left behind.
import { createHash, randomBytes } from 'node:crypto'
import { startFaultyRelay } from '../tools/relay/faulty-relay.ts'
import { publishNode, visitorOf } from '../tools/site/node-site.ts'
import { atDepth, wholeOnly } from '../tools/test-depth.ts'
import { expect, test } from './fixtures.ts'

const SEQUENTIAL: number = atDepth(10_000, 1_000)
/** The requests that one connection serves: there are dozens of handshakes, or hundreds. */
const PER_CONNECTION = 25
const CONCURRENT: number = atDepth(256, 64)
/** The minute after which the SDK closes a WebSocket that it does not need, and some time for the keepalives that show it. */
const SCALE_DOWN_MS = 90_000
/** On a slow machine the burst makes the SDK open a second WebSocket, which is only waited for with `--whole`. */
const SETTLED = { openStreams: 0, reconnects: 0, ...atDepth({ webSockets: 1 }, {}) }

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

wholeOnly(test, 'depth')(`${SEQUENTIAL} requests one after another`, async () => {
  const relay = await startFaultyRelay()
  const site = await publishNode(relay, 'sequential', { fetch: ({ url }) => new Response(url) })
  for (let done = 0; done < SEQUENTIAL; done += PER_CONNECTION) {
    const visitor = visitorOf(site, relay, 1)
    for (let number = done; number < done + PER_CONNECTION; number++) {
      const answer = await visitor.get(`/${number}`)
      if (String(answer) !== `${site.url}/${number}`) throw new Error(`${number}: ${answer}`)
    }
    visitor.close()
  }
  await expect.poll(() => site.stats(), { timeout: SCALE_DOWN_MS }).toMatchObject(SETTLED)
  await site.close()
  await relay.stop()
})

wholeOnly(test, 'depth')(`${CONCURRENT} requests at the same time`, async () => {
  const relay = await startFaultyRelay()
  const everybody = Promise.withResolvers<void>()
  let asked = 0
  let most = 0
  const site = await publishNode(relay, 'concurrent', {
    fetch: async (request) => {
      const body = new Uint8Array(await request.arrayBuffer())
      asked += 1
      most = Math.max(most, site.stats().openStreams)
      if (asked === CONCURRENT) everybody.resolve()
      // the page answers no request before all have come
      await everybody.promise
      return new Response(body)
    },
  })
  const visitor = visitorOf(site, relay)
  const bodies = Array.from({ length: CONCURRENT }, () => randomBytes(20_000))
  const answers = await Promise.all(bodies.map((body, number) => visitor.get(`/${number}`, body)))
  expect(answers.map(sha256)).toEqual(bodies.map(sha256))
  expect(most).toBe(CONCURRENT)
  await expect.poll(() => site.stats(), { timeout: SCALE_DOWN_MS }).toMatchObject(SETTLED)
  await site.close()
  await relay.stop()
})
