// Everything that a clock decides: keepalive, pings, streams that nobody acknowledges or ends.

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Deadlines } from '../src/deadlines.ts'
import { pattern } from './support/bytes.ts'
import { hex, scripted } from './support/scripted.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

const MINUTE = 60_000
const PING_0 = '00 02 0001 00000000 00000000'
const PONG_0 = '00 02 0002 00000000 00000000'

test('a session of its own pings every 30 s, and each round trip counts (protocol §8.1.4)', async () => {
  const { feed, sent, session } = scripted({ keepAliveIntervalMs: undefined })
  await vi.advanceTimersByTimeAsync(29_999)
  expect(await sent()).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(await sent()).toEqual([PING_0])
  await vi.advanceTimersByTimeAsync(40)
  await feed(PONG_0)
  expect(session.rtt).toBe(40)
  await vi.advanceTimersByTimeAsync(30_000)
  expect(await sent()).toEqual(['00 02 0001 00000000 00000001'])
})

test('a silent peer loses the session 10 s after the ping', async () => {
  const peer = scripted({ keepAliveIntervalMs: 30_000 })
  await vi.advanceTimersByTimeAsync(39_999)
  expect(peer.closes).toBe(0)
  await vi.advanceTimersByTimeAsync(1)
  expect(await peer.session.closed).toMatchObject({
    code: 'keepalive_timeout',
    cause: { code: 'ping_timeout' },
  })
  expect(await peer.sent()).toEqual([PING_0, '00 03 0000 00000000 00000000'])
  expect(peer.closes).toBe(1)
})

test('one that sends anything else is alive, and asked again', async () => {
  const peer = scripted({ keepAliveIntervalMs: 30_000 })
  await vi.advanceTimersByTimeAsync(35_000)
  await peer.feed('00')
  await vi.advanceTimersByTimeAsync(35_000)
  expect(peer.closes).toBe(0)
  expect(await peer.sent()).toEqual([PING_0, '00 02 0001 00000000 00000001'])
  await vi.advanceTimersByTimeAsync(10_000)
  expect(peer.closes).toBe(1)
})

test('a ping that is not answered fails alone when there is no keepalive', async () => {
  const peer = scripted({ pingTimeoutMs: 500 })
  const failing = expect(peer.session.ping()).rejects.toMatchObject({ code: 'ping_timeout' })
  await vi.advanceTimersByTimeAsync(500)
  await failing
  await peer.feed(PONG_0)
  expect([peer.session.rtt, peer.closes]).toEqual([undefined, 0])
})

test('a stream that is not acknowledged in 75 s is reset (protocol §8.1.6)', async () => {
  const { feed, sent, session } = scripted({ role: 'client', openTimeoutMs: undefined })
  const silent = await session.open()
  await vi.advanceTimersByTimeAsync(1000)
  const accepted = await session.open()
  await feed('00 01 0002 00000003 00000000')
  await sent()
  const reading = expect(silent.read()).rejects.toMatchObject({ code: 'open_timeout' })
  await vi.advanceTimersByTimeAsync(74_000)
  await reading
  await vi.advanceTimersByTimeAsync(MINUTE)
  expect(accepted.error).toBeUndefined()
  expect(await sent()).toEqual(['00 01 0008 00000001 00000000'])
})

test('a stream that we ended is reset 5 minutes after its last byte (protocol §8.1.6)', async () => {
  const { feed, sent, streams, session } = scripted({ closeTimeoutMs: undefined })
  await feed('00 01 0001 00000001 00000000', '00 01 0001 00000003 00000000')
  const [stream, open] = streams
  await vi.advanceTimersByTimeAsync(10 * MINUTE)
  await stream!.end()
  await sent()
  await vi.advanceTimersByTimeAsync(4 * MINUTE)
  await feed('00 00 0000 00000001 00000001 61')
  await vi.advanceTimersByTimeAsync(4 * MINUTE)
  expect(await stream!.read()).toEqual(hex('61'))
  await vi.advanceTimersByTimeAsync(5 * MINUTE - 1)
  expect(stream!.error).toBeUndefined()
  await vi.advanceTimersByTimeAsync(1)
  expect(stream!.error).toMatchObject({ code: 'close_timeout' })
  expect(await sent()).toEqual(['00 01 0008 00000001 00000000'])
  expect([open!.error, session.streamCount]).toEqual([undefined, 1])
})

test('one whose end came but was not read is forgotten the same way', async () => {
  const { feed, streams, session } = scripted({ closeTimeoutMs: 1000 })
  await feed('00 00 0005 00000001 00000001 61')
  await streams[0]!.end()
  expect(session.streamCount).toBe(1)
  await vi.advanceTimersByTimeAsync(1000)
  expect(session.streamCount).toBe(0)
})

test('one that ended in order leaves no timer behind', async () => {
  const { feed, session } = scripted({ role: 'client', openTimeoutMs: 1000, closeTimeoutMs: 1000 })
  const stream = await session.open()
  await feed('00 01 0002 00000001 00000000')
  await stream.end()
  expect(vi.getTimerCount()).toBe(1)
  await feed('00 01 0004 00000001 00000000')
  await stream.closed
  expect(vi.getTimerCount()).toBe(0)
})

test.each(['close', 'transportClosed', 'a broken frame'])('no timer is left after %s', async (end) => {
  const { feed, streams, session } = scripted({
    keepAliveIntervalMs: 1000,
    openTimeoutMs: 1000,
    closeTimeoutMs: 1000,
  })
  await session.open()
  await feed('00 01 0001 00000001 00000000')
  await streams[0]!.write(pattern(1))
  await streams[0]!.end()
  const ping = expect(session.ping()).rejects.toThrow()
  expect(vi.getTimerCount()).toBe(4)
  if (end === 'close') session.close()
  else if (end === 'transportClosed') session.transportClosed()
  else await feed('ff'.repeat(12))
  await ping
  expect(vi.getTimerCount()).toBe(0)
})

test('deadlines expire in their order, on one timer, which goes with the last of them', () => {
  const expired: string[] = []
  const deadlines = new Deadlines<string>(100, (item) => expired.push(item))
  for (const item of ['a', 'b', 'c', 'd']) {
    deadlines.set(item)
    vi.advanceTimersByTime(10)
  }
  expect(vi.getTimerCount()).toBe(1)
  deadlines.set('a')
  deadlines.delete('c')
  vi.advanceTimersByTime(70)
  expect(expired).toEqual(['b'])
  vi.advanceTimersByTime(29)
  expect(expired).toEqual(['b', 'd'])
  vi.advanceTimersByTime(1)
  expect(expired).toEqual(['b', 'd', 'a'])
  expect(vi.getTimerCount()).toBe(0)

  deadlines.set('e')
  deadlines.delete('e')
  expect(vi.getTimerCount()).toBe(0)
})
