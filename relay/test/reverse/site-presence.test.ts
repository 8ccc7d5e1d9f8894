// Tests how long visitors wait for a site that went without a word, and what counts as that.

import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ReadyQueue } from '../../src/core/reverse/ready-queue.ts'
import { onceClosed, SITE_AWAY_AFTER_MS } from '../../src/core/reverse/site-presence.ts'

const forever = new AbortController().signal
const CLAIM_MS = 10_000

describe('a visitor', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  const connection = {}

  /** A queue whose site has one connection, and its visitors. */
  function newSite() {
    const queue = new ReadyQueue()
    queue.setConnection(connection, 'open')
    const wait = () => {
      const visitor = { isOver: false }
      void queue.claim(forever, CLAIM_MS).then(() => {
        visitor.isOver = true
      })
      return visitor
    }
    return { queue, wait }
  }

  test('waits 2 s for a site whose side closed its last connection, and who comes later waits no more (protocol §9.2.2)', async () => {
    const { queue, wait } = newSite()
    const early = wait()
    queue.setConnection(connection, 'cut')
    await vi.advanceTimersByTimeAsync(SITE_AWAY_AFTER_MS - 1)
    const late = wait()
    await vi.advanceTimersByTimeAsync(0)
    expect([early.isOver, late.isOver]).toEqual([false, false])
    await vi.advanceTimersByTimeAsync(1)
    expect([early.isOver, late.isOver]).toEqual([true, true])
    const latest = wait()
    await vi.advanceTimersByTimeAsync(0)
    expect(latest.isOver).toBe(true)
  })

  test.each<[string, (queue: ReadyQueue) => void]>([
    ['closed by the relay', (queue) => queue.setConnection(connection, 'none')],
    [
      'of several',
      (queue) => {
        queue.setConnection({}, 'open')
        queue.setConnection(connection, 'cut')
      },
    ],
    [
      'of a site that came back',
      (queue) => {
        queue.setConnection(connection, 'cut')
        queue.setConnection({}, 'open')
      },
    ],
    [
      'of a site that may be at other machines',
      (queue) => {
        queue.spread()
        queue.setConnection(connection, 'cut')
      },
    ],
  ])('waits 10 s after the end of a connection %s', async (_what, change) => {
    const { queue, wait } = newSite()
    const visitor = wait()
    change(queue)
    await vi.advanceTimersByTimeAsync(CLAIM_MS - 1)
    expect(visitor.isOver).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(visitor.isOver).toBe(true)
  })

  test('waits again, and is served, when a site that was away came back', async () => {
    const { queue, wait } = newSite()
    queue.setConnection(connection, 'cut')
    await vi.advanceTimersByTimeAsync(SITE_AWAY_AFTER_MS)
    queue.setConnection({}, 'open')
    const visitor = wait()
    await vi.advanceTimersByTimeAsync(SITE_AWAY_AFTER_MS)
    expect(visitor.isOver).toBe(false)
    expect(queue.offer(new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() }))).toBe(true)
    await vi.advanceTimersByTimeAsync(0)
    expect(visitor.isOver).toBe(true)
  })
})

describe('a connection', () => {
  test.each<[string, 'cut' | 'none', (relay: Socket, site: Socket) => void]>([
    ['that the site ends', 'cut', (_relay, site) => site.end()],
    ['that the site resets', 'cut', (_relay, site) => site.resetAndDestroy()],
    ['that the relay ends', 'none', (relay) => relay.end()],
    ['that the relay destroys', 'none', (relay) => relay.destroy()],
  ])('%s counts as %s', async (_what, how, close) => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const site = connect((server.address() as { port: number }).port, '127.0.0.1')
    const [relay] = (await once(server, 'connection')) as [Socket]
    for (const socket of [site, relay]) socket.on('error', () => {}).resume()
    const closed = new Promise((resolve) => onceClosed(relay, resolve))
    close(relay, site)
    expect(await closed).toBe(how)
    site.destroy()
    server.close()
  })
})
