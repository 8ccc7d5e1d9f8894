// Floods that brought down servers: each is bounded by a named limit, costs the visitor its connection, and nobody else.

import { afterEach, describe, expect, test, vi } from 'vitest'
import {
  CLOSED_STREAMS_KNOWN,
  CONTINUATIONS_MAX,
  CONTROL_WAITING_MAX_BYTES,
  IDLE_FRAMES_BURST,
  IDLE_FRAMES_PER_SECOND,
  IDLE_FRAMES_PER_WORK,
  RESETS_BURST,
  RESETS_PER_SECOND,
  STREAMS_MAX,
  WORK_MIN_BYTES,
} from '../../src/http2/limits.ts'
import { HEAD_BYTES, HEAD_DEADLINE_MS, IDLE_MS, WRITE_STALL_MS } from '../../src/semantics/limits.ts'
import { TokenBucket } from '../../src/timers/token-bucket.ts'
import { endOf, settle, Visitor } from './visitor.ts'
import {
  ACK,
  block,
  CONTINUATION,
  DATA,
  END_HEADERS,
  END_STREAM,
  frame,
  GET,
  GOAWAY,
  get,
  HEADERS,
  PRIORITY,
  ping,
  post,
  reset,
  SETTINGS,
  settings,
  WHOLE,
  windowUpdate,
} from './wire.ts'

const never = (): Promise<never> => new Promise(() => {})
/** More than what grows back while a slow machine works. */
const RESETS: number = RESETS_BURST + 2 * RESETS_PER_SECOND
/** In one piece, so that no time passes that would grow the allowance. */
const times = (count: number, make: (i: number) => Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, i) => make(i)))

afterEach(() => void vi.useRealTimers())

describe('an allowance', () => {
  test('is spent, grows by the second and by work, and never above its burst', () => {
    vi.useFakeTimers()
    const allowance = new TokenBucket(10, 2)
    const spend = (count: number): boolean[] => Array.from({ length: count }, () => allowance.take())
    expect(spend(10)).not.toContain(false)
    expect(allowance.take()).toBe(false)
    vi.advanceTimersByTime(2000)
    expect(spend(4)).not.toContain(false)
    expect(allowance.take()).toBe(false)
    vi.advanceTimersByTime(3_600_000)
    allowance.refill(5)
    expect(spend(10)).not.toContain(false)
    expect(allowance.take()).toBe(false)
  })
})

describe('streams that end before their time (RESETS_BURST)', () => {
  const CALM = /^GOAWAY \d+ ENHANCE_YOUR_CALM$/

  test('CVE-2023-44487: rapid reset starts no handler', async () => {
    const visitor = await Visitor.open(never)
    await visitor.send(times(RESETS, (i) => Buffer.concat([get(2 * i + 1), reset(2 * i + 1)])))
    expect(await visitor.next()).toMatch(CALM)
    expect(await visitor.next()).toBe('end')
    expect(visitor.requests).toHaveLength(0)
  })

  test('CVE-2023-44487: rapid reset of handlers that have started', async () => {
    const visitor = await Visitor.open(never)
    for (let round = 0; round * STREAMS_MAX <= RESETS_BURST; round++) {
      const id = (i: number): number => 2 * (round * STREAMS_MAX + i) + 1
      await visitor.send(times(STREAMS_MAX, (i) => get(id(i))))
      await settle()
      await visitor.send(times(STREAMS_MAX, (i) => reset(id(i))))
    }
    expect(await visitor.next()).toMatch(CALM)
    expect(visitor.requests).toHaveLength(RESETS_BURST + STREAMS_MAX)
    expect(visitor.requests.every(({ signal }) => signal.aborted)).toBe(true)
  })

  test('CVE-2025-8671: made to reset by us', async () => {
    const visitor = await Visitor.open(never)
    await visitor.send(times(RESETS, (i) => Buffer.concat([get(2 * i + 1), windowUpdate(2 * i + 1, 0)])))
    const resets = (await visitor.until(CALM)).slice(0, -1)
    expect(resets.length).toBeGreaterThanOrEqual(RESETS_BURST)
    expect(new Set(resets.map((text) => text.split(' ')[2]))).toEqual(new Set(['PROTOCOL_ERROR']))
  })

  test('more streams than STREAMS_MAX, again and again', async () => {
    const visitor = await Visitor.open(never)
    await visitor.send(times(STREAMS_MAX + RESETS, (i) => get(2 * i + 1)))
    expect((await visitor.until(CALM))[0]).toMatch(/REFUSED_STREAM$/)
    expect(visitor.requests.length).toBeLessThanOrEqual(STREAMS_MAX)
  })

  test('malformed requests, one after the other', async () => {
    expect(await endOf(times(RESETS, (i) => frame(HEADERS, WHOLE, 2 * i + 1, block([['a', 'b']]))))).toMatch(
      CALM,
    )
  })

  test('a visitor that lets most of them end is left alone', async () => {
    const visitor = await Visitor.open((request) =>
      request.url.endsWith('/') ? new Response('ok') : never(),
    )
    let id = 1
    for (let round = 0; round < 2 * RESETS_BURST; round++) {
      await visitor.send(get(id), get(id + 2, '/never'), reset(id + 2))
      await visitor.response(id)
      id += 4
    }
    await visitor.send(ping())
    expect(await visitor.next()).toBe('PING ack')
  })
})

describe('frames that further nothing (IDLE_FRAMES_BURST)', () => {
  test.each<[string, Buffer, Buffer]>([
    ['CVE-2019-9512: PING', ping(), Buffer.alloc(0)],
    ['CVE-2019-9515: SETTINGS', settings([4, 1]), Buffer.alloc(0)],
    ['CVE-2019-9515: empty SETTINGS', settings(), Buffer.alloc(0)],
    ['acknowledgments of nothing', frame(SETTINGS, ACK, 0), Buffer.alloc(0)],
    ['CVE-2019-9513: PRIORITY', frame(PRIORITY, 0, 1, [0, 0, 0, 3, 0]), Buffer.alloc(0)],
    ['GOAWAY', frame(GOAWAY, 0, 0, Buffer.alloc(8)), get(1)],
    ['unknown frames', frame(0xfa, 0, 0, 'x'), Buffer.alloc(0)],
    ['CVE-2019-9518: empty DATA', frame(DATA, 0, 1), post(1)],
    ['WINDOW_UPDATE of the connection', windowUpdate(0, 1), Buffer.alloc(0)],
    ['WINDOW_UPDATE of a stream', windowUpdate(1, 1), post(1)],
    ['RST_STREAM of what is over', reset(1), Buffer.concat([post(1), reset(1)])],
  ])('%s', async (_, flood, before) => {
    const visitor = await Visitor.open(never)
    await visitor.send(
      before,
      times(IDLE_FRAMES_BURST + IDLE_FRAMES_PER_SECOND, () => flood),
    )
    expect((await visitor.until(/GOAWAY/)).at(-1)).toMatch(/ENHANCE_YOUR_CALM$/)
    expect(await visitor.next()).toBe('end')
  })

  test('CVE-2019-9511: windows opened octet by octet', async () => {
    const visitor = await Visitor.open(() => new Response(new Uint8Array(100_000)), {}, settings([4, 0]))
    await visitor.send(get(1))
    let sent = 0
    for (let ended = false; !ended && sent < 10 * IDLE_FRAMES_BURST; sent++) {
      await visitor.send(windowUpdate(1, 1))
      ended = (await visitor.until(/DATA|GOAWAY/)).at(-1) !== 'DATA 1 1'
    }
    expect(sent).toBeLessThan(10 * IDLE_FRAMES_BURST)
    expect(sent).toBeGreaterThan(IDLE_FRAMES_BURST / 2)
  })

  test('a visitor that follows each frame of ours with updates is left alone', async () => {
    const rounds = IDLE_FRAMES_BURST
    const visitor = await Visitor.open(
      () => new Response(new Uint8Array(rounds * WORK_MIN_BYTES)),
      {},
      settings([4, WORK_MIN_BYTES]),
    )
    await visitor.send(get(1))
    for (let i = 0; i < rounds; i++) {
      await visitor.until(/DATA/)
      await visitor.send(windowUpdate(1, WORK_MIN_BYTES), windowUpdate(0, WORK_MIN_BYTES))
    }
    await visitor.send(ping())
    expect(await visitor.next()).toBe('PING ack')
    expect(IDLE_FRAMES_PER_WORK).toBeGreaterThan(2)
  })
})

describe('header blocks', () => {
  test('CVE-2024-27316: CONTINUATION without end, empty (CONTINUATIONS_MAX)', async () => {
    const flood = times(CONTINUATIONS_MAX + 1, () => frame(CONTINUATION, 0, 1))
    expect(await endOf(frame(HEADERS, END_STREAM, 1), flood)).toBe('GOAWAY 0 ENHANCE_YOUR_CALM')
  })

  test('CVE-2024-27316: CONTINUATION without end, full (HEAD_BYTES)', async () => {
    const full = Buffer.alloc(16_384)
    const flood = times(HEAD_BYTES / full.length, () => frame(CONTINUATION, 0, 1, full))
    expect(await endOf(frame(HEADERS, END_STREAM, 1, 'x'), flood)).toBe('GOAWAY 0 ENHANCE_YOUR_CALM')
  })

  test('CONTINUATIONS_MAX of them are fine', async () => {
    const visitor = await Visitor.open()
    await visitor.send(frame(HEADERS, END_STREAM, 1, block(GET)))
    await visitor.send(
      times(CONTINUATIONS_MAX, (i) => frame(CONTINUATION, i === CONTINUATIONS_MAX - 1 ? END_HEADERS : 0, 1)),
    )
    expect((await visitor.response(1)).status).toBe('200')
  })

  test('CVE-2016-6581, the HPACK bomb: a small block of a large list is refused, and nothing of it kept', async () => {
    const visitor = await Visitor.open()
    // An entry of 4,000 octets, then 16,000 references to it: 64 MB of fields in 16 KB.
    const entry = Buffer.concat([Buffer.from([0x40, 1, 0x78, 0x7f, 0xa1, 0x1e]), Buffer.alloc(4000, 'v')])
    await visitor.send(frame(HEADERS, WHOLE, 1, Buffer.concat([block(GET), entry])))
    expect((await visitor.response(1)).status).toBe('200')
    const bomb = Buffer.concat([block(GET), Buffer.alloc(16_000, 0xbe)])
    await visitor.send(frame(HEADERS, WHOLE, 3, bomb))
    expect((await visitor.response(3)).status).toBe('431')
    expect(visitor.requests).toHaveLength(1)
  })

  test.each([
    ['a preface', Buffer.from('PRI * HTTP/2.0\r\n')],
    ['a preface without SETTINGS', Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')],
  ])('%s that does not go on is not waited for longer than HEAD_DEADLINE_MS', async (_, bytes) => {
    vi.useFakeTimers()
    const visitor = await new Visitor().send(bytes)
    await visitor.until(/WINDOW_UPDATE/)
    const end = visitor.next()
    await vi.advanceTimersByTimeAsync(HEAD_DEADLINE_MS)
    expect(await end).toBe('GOAWAY 0 ENHANCE_YOUR_CALM')
  })

  test('a block that does not end is not waited for longer, however often a piece comes', async () => {
    vi.useFakeTimers()
    const visitor = await Visitor.open()
    await visitor.send(frame(HEADERS, END_STREAM, 1))
    for (let i = 0; i < 4; i++) {
      await vi.advanceTimersByTimeAsync(HEAD_DEADLINE_MS / 4)
      await visitor.send(frame(CONTINUATION, 0, 1))
    }
    expect(await visitor.next()).toBe('GOAWAY 0 ENHANCE_YOUR_CALM')
  })
})

describe('silence', () => {
  test('after IDLE_MS without a request the connection ends, PINGs or not', async () => {
    vi.useFakeTimers()
    const visitor = await Visitor.open()
    for (let i = 0; i < 4; i++) {
      await vi.advanceTimersByTimeAsync(IDLE_MS / 4)
      await visitor.send(ping())
    }
    expect((await visitor.until('end')).slice(-2)).toEqual(['GOAWAY 0 NO_ERROR', 'end'])
  })

  test('a visitor that reads nothing stops being read, then is dropped', async () => {
    vi.useFakeTimers()
    const visitor = await Visitor.open(
      (request) => new Response('ok', { headers: { 'x-id': request.url + 'v'.repeat(900) } }),
    )
    let taken = 0
    const flood = (async () => {
      for (let i = 0; i < 4000; i++) {
        await visitor.send(get(2 * i + 1, `/${i}`))
        taken++
      }
    })()
    await vi.advanceTimersByTimeAsync(1000)
    // The transport holds 64 KiB each way, the sender as much, and a write may be one round larger.
    expect(taken).toBeLessThan((4 * CONTROL_WAITING_MAX_BYTES) / 100)
    await vi.advanceTimersByTimeAsync(WRITE_STALL_MS)
    await visitor.served
    expect(visitor.server.isBroken).toBe(true)
    await flood
  })
})

test('of streams that are over, CLOSED_STREAMS_KNOWN are known by their number', async () => {
  const visitor = await Visitor.open(() => new Response('early'))
  await visitor.send(post(1))
  await visitor.until('RST_STREAM 1 NO_ERROR')
  for (let i = 1; i < CLOSED_STREAMS_KNOWN; i++) {
    await visitor.send(get(2 * i + 1))
    await visitor.response(2 * i + 1)
  }
  await visitor.send(frame(DATA, 0, 1, 'late'), ping())
  expect(await visitor.next()).toBe('PING ack')
  await visitor.send(get(2 * CLOSED_STREAMS_KNOWN + 1))
  await visitor.response(2 * CLOSED_STREAMS_KNOWN + 1)
  await visitor.send(frame(DATA, 0, 1, 'very late'))
  expect(await visitor.next()).toMatch(/^GOAWAY \d+ STREAM_CLOSED$/)
  await settle()
})
