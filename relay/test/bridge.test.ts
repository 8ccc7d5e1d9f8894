// The bridge's rate limit: shared by an identity's connections and directions, and fair between them.

import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Bandwidth } from '../src/bridge/bandwidth.ts'
import { pipe } from '../src/bridge/pipe.ts'

describe('Bandwidth', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
  afterEach(() => void vi.useRealTimers())

  test('0 is unlimited', () => {
    const bandwidth = new Bandwidth(() => 0)
    for (let i = 0; i < 100; i++) expect(bandwidth.spend(1e9)).toBe(0)
  })

  test('a second may be saved up, then bytes take their time', () => {
    vi.advanceTimersByTime(10_000)
    const bandwidth = new Bandwidth(() => 1000)
    expect(bandwidth.spend(1000)).toBe(0)
    expect(bandwidth.spend(500)).toBe(500)
    vi.advanceTimersByTime(500)
    expect(bandwidth.spend(250)).toBe(250)
    vi.advanceTimersByTime(60_000)
    expect(bandwidth.spend(1000)).toBe(0)
    expect(bandwidth.spend(1)).toBe(1)
  })

  test('turns are taken in order: two senders of equal chunks wait for one another', () => {
    vi.advanceTimersByTime(10_000)
    const bandwidth = new Bandwidth(() => 1000)
    bandwidth.spend(1000)
    expect([1, 2, 3, 4].map(() => bandwidth.spend(100))).toEqual([100, 200, 300, 400])
  })

  test('a new limit holds at once', () => {
    let rate = 0
    const bandwidth = new Bandwidth(() => rate)
    bandwidth.spend(1e9)
    rate = 1000
    expect(bandwidth.spend(2000)).toBeGreaterThan(900)
  })
})

describe('pipe', () => {
  /** Two sockets that are joined by a pipe, seen from their far ends. */
  async function joined(bandwidth: Bandwidth): Promise<{ left: Socket; right: Socket; over: Promise<void> }> {
    const server = createServer({ allowHalfOpen: true }).listen(0)
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const open = async (): Promise<[Socket, Socket]> => {
      const near = connect({ port, allowHalfOpen: true })
      const [far] = await once(server, 'connection')
      return [near, far]
    }
    const [left, a] = await open()
    const [right, b] = await open()
    server.close()
    return { left, right, over: pipe(a, b, bandwidth) }
  }

  async function receive(socket: Socket): Promise<number> {
    let bytes = 0
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    await once(socket, 'end')
    return bytes
  }

  test('carries both ways under back-pressure, and each direction ends by itself', async () => {
    const { left, right, over } = await joined(new Bandwidth(() => 0))
    left.end(Buffer.alloc(20_000_000))
    expect(await receive(right)).toBe(20_000_000)
    right.end(Buffer.alloc(10_000_000))
    expect(await receive(left)).toBe(10_000_000)
    await over
  })

  test('a side that breaks takes the other along', async () => {
    const { left, right, over } = await joined(new Bandwidth(() => 0))
    left.resetAndDestroy()
    expect(await receive(right)).toBe(0)
    await over
  })

  test('keeps to the rate in both directions together, and to a limit that comes later', async () => {
    let rate = 0
    const { left, right } = await joined(new Bandwidth(() => rate))
    left.write('unlimited')
    await once(right, 'data')
    rate = 200_000
    const started = performance.now()
    left.end(Buffer.alloc(150_000))
    right.end(Buffer.alloc(150_000))
    expect(await Promise.all([receive(right), receive(left)])).toEqual([150_000, 150_000])
    // 300,000 bytes, of which one second's worth may be saved up and the last chunk is not waited for.
    expect(performance.now() - started).toBeGreaterThan(100)
  })
})
