// Flow control, RFC 9113 §5.2 and §6.9: who reads slowly stops who sends, both ways, and streams share a connection.

import { afterEach, describe, expect, test, vi } from 'vitest'
import {
  CONNECTION_WINDOW_BYTES,
  CONNECTION_WINDOW_MAX_BYTES,
  FRAME_BYTES,
  STREAM_WINDOW_BYTES,
  STREAM_WINDOW_MAX_BYTES,
} from '../../src/http2/limits.ts'
import { ReceiveWindow } from '../../src/http2/receive-window.ts'
import { BODY_STALL_MS, WRITE_STALL_MS } from '../../src/semantics/limits.ts'
import { settle, Visitor } from './visitor.ts'
import { DATA, END_STREAM, frame, get, PADDED, post, settings, windowUpdate } from './wire.ts'

const never = (): Promise<never> => new Promise(() => {})
const bytes = (length: number) => (): Response => new Response(new Uint8Array(length))
const CHUNK = Buffer.alloc(FRAME_BYTES)
const NO_WINDOW = settings([4, 0])

async function fill(visitor: Visitor, id: number, size: number): Promise<void> {
  for (let left = size; left > 0; left -= FRAME_BYTES) await visitor.send(frame(DATA, 0, id, CHUNK))
}

afterEach(() => void vi.useRealTimers())

describe('what a visitor sends', () => {
  test('waits within the window for a handler that does not read, and one octet more is an error', async () => {
    const visitor = await Visitor.open(never)
    await visitor.send(post(1))
    await fill(visitor, 1, STREAM_WINDOW_BYTES)
    await visitor.send(frame(DATA, 0, 1, 'x'))
    expect(await visitor.next()).toBe('RST_STREAM 1 FLOW_CONTROL_ERROR')
  })

  test('on all streams together is bounded, too', async () => {
    const visitor = await Visitor.open(never)
    const streams = CONNECTION_WINDOW_BYTES / STREAM_WINDOW_BYTES
    for (let i = 0; i <= streams; i++) await visitor.send(post(2 * i + 1))
    for (let i = 0; i < streams; i++) await fill(visitor, 2 * i + 1, STREAM_WINDOW_BYTES)
    await visitor.send(frame(DATA, 0, 2 * streams + 1, 'x'))
    expect(await visitor.next()).toBe(`GOAWAY ${2 * streams + 1} FLOW_CONTROL_ERROR`)
  })

  test('gets credit when the handler reads, not before', async () => {
    const read = Promise.withResolvers<void>()
    const visitor = await Visitor.open(async (request) => {
      await read.promise
      for await (const _ of request.body ?? []);
      return new Response('read')
    })
    await visitor.send(post(1))
    await fill(visitor, 1, STREAM_WINDOW_BYTES)
    await settle()
    read.resolve()
    expect(await visitor.next()).toBe(`WINDOW_UPDATE 1 ${STREAM_WINDOW_BYTES}`)
    await visitor.send(frame(DATA, END_STREAM, 1))
    expect((await visitor.response(1)).body).toBe('read')
  })

  test('gives the connection its room back when nobody will read it', async () => {
    const visitor = await Visitor.open(() => new Response('no'))
    const streams = CONNECTION_WINDOW_BYTES / 2 / STREAM_WINDOW_BYTES
    for (let i = 0; i < streams; i++) {
      await visitor.send(post(2 * i + 1))
      await visitor.until(`RST_STREAM ${2 * i + 1} NO_ERROR`)
      await fill(visitor, 2 * i + 1, STREAM_WINDOW_BYTES)
    }
    expect(await visitor.next()).toBe(`WINDOW_UPDATE 0 ${CONNECTION_WINDOW_BYTES / 2}`)
  })

  test('§6.9 padding takes its part of the window, and gives it back at once', async () => {
    const visitor = await Visitor.open(never)
    await visitor.send(post(1))
    const padded = frame(DATA, PADDED, 1, [255, 0, ...new Uint8Array(255)])
    for (let i = 0; i < 2 * (STREAM_WINDOW_BYTES / 257); i++) await visitor.send(padded)
    expect(await visitor.next()).toMatch(/^WINDOW_UPDATE 1 /)
  })

  test('in octets, each in a frame, is handed over in one piece', async () => {
    const read = Promise.withResolvers<void>()
    const visitor = await Visitor.open(async (request) => {
      await read.promise
      const { value } = await request.body!.getReader().read()
      return new Response(String(value?.length))
    })
    await visitor.send(post(1), ...Array.from({ length: 1000 }, () => frame(DATA, 0, 1, 'x')))
    await settle()
    read.resolve()
    expect((await visitor.response(1)).body).toBe('1000')
  })

  test('that stops is not waited for longer than BODY_STALL_MS', async () => {
    vi.useFakeTimers()
    const visitor = await Visitor.open(async (request) => new Response(await request.text()))
    await visitor.send(post(1))
    const answer = visitor.response(1)
    await vi.advanceTimersByTimeAsync(BODY_STALL_MS)
    expect((await answer).status).toBe('408')
  })
})

describe('the window of a reader', () => {
  test('that waits for what comes doubles up to its maximum', () => {
    const window = new ReceiveWindow(STREAM_WINDOW_BYTES, STREAM_WINDOW_MAX_BYTES)
    let allowed = STREAM_WINDOW_BYTES
    for (let round = 0; round < 10; round++) {
      expect(window.take(allowed)).toBe(true)
      allowed = window.give(allowed, true)
    }
    expect(allowed).toBe(STREAM_WINDOW_MAX_BYTES)
    expect(window.take(allowed + 1)).toBe(false)
    expect(CONNECTION_WINDOW_MAX_BYTES).toBeGreaterThan(STREAM_WINDOW_MAX_BYTES)
  })

  test('that lets it wait stays', () => {
    const window = new ReceiveWindow(1000, 8000)
    expect(window.take(1000)).toBe(true)
    expect(window.give(499, false)).toBe(0)
    expect(window.give(501, false)).toBe(1000)
    expect(window.take(1001)).toBe(false)
  })
})

describe('what a visitor gets', () => {
  test('§6.9.1 stays within the windows of the stream and of the connection', async () => {
    const visitor = await Visitor.open(bytes(100_000), {}, settings([4, 10]))
    await visitor.send(get(1))
    expect(await visitor.until(/DATA/)).toEqual(['HEADERS 1', 'DATA 1 10'])
    await visitor.send(windowUpdate(1, 5))
    expect(await visitor.next()).toBe('DATA 1 5')
    await visitor.send(windowUpdate(1, 200_000))
    const rest = ['DATA 1 16384', 'DATA 1 16384', 'DATA 1 16384', 'DATA 1 16368']
    expect([await visitor.next(), await visitor.next(), await visitor.next(), await visitor.next()]).toEqual(
      rest,
    )
    await visitor.send(windowUpdate(0, 100_000))
    expect((await visitor.until(/end/)).length).toBeGreaterThan(0)
  })

  test('§6.9.2 a smaller initial window may leave less than nothing', async () => {
    const visitor = await Visitor.open(bytes(100), {}, settings([4, 50]))
    await visitor.send(get(1))
    await visitor.until('DATA 1 50')
    await visitor.send(settings([4, 20]), windowUpdate(1, 40))
    expect(await visitor.until(/DATA/)).toEqual(['SETTINGS ack', 'DATA 1 10'])
    await visitor.send(settings([4, 65_535]))
    expect(await visitor.until(/DATA/)).toEqual(['SETTINGS ack', 'DATA 1 40 end'])
  })

  test('an empty end needs no window', async () => {
    const body = new ReadableStream({
      async start(controller) {
        await settle()
        controller.close()
      },
    })
    const visitor = await Visitor.open(() => new Response(body), {}, NO_WINDOW)
    await visitor.send(get(1))
    expect(await visitor.until(/end/)).toEqual(['HEADERS 1', 'DATA 1 0 end'])
  })

  test('stops the handler’s body while it takes nothing', async () => {
    let pulled = 0
    const body = new ReadableStream({
      pull(controller) {
        pulled += FRAME_BYTES
        controller.enqueue(new Uint8Array(FRAME_BYTES))
      },
    })
    const visitor = await Visitor.open(() => new Response(body), {}, NO_WINDOW)
    await visitor.send(get(1))
    await visitor.next()
    await settle()
    const before = pulled
    for (let i = 0; i < 10; i++) await settle()
    expect(pulled).toBe(before)
    expect(pulled).toBeLessThan(10 * FRAME_BYTES)
  })

  test('comes stream by stream, a frame each: a small answer does not wait behind a large one', async () => {
    const visitor = await Visitor.open((request) => bytes(request.url.endsWith('/s') ? 10 : 200_000)())
    await visitor.send(Buffer.concat([windowUpdate(0, 1_000_000), get(1), get(3), get(5, '/s')]))
    const seen = await visitor.until('DATA 5 10 end')
    expect(seen.filter((text) => text.startsWith('DATA'))).toHaveLength(seen.length - 3)
    expect(seen.length).toBeLessThan(20)
    const order = (await visitor.until(/DATA 1/)).concat(await visitor.until(/DATA 1/))
    expect(order.some((text) => text.startsWith('DATA 3'))).toBe(true)
  })

  test('of one turn leaves in one write', async () => {
    const visitor = await Visitor.open(() => new Response('ok'))
    const before = visitor.server.writes.length
    await visitor.send(Buffer.concat(Array.from({ length: 20 }, (_, i) => get(2 * i + 1))))
    await visitor.response(39)
    expect(visitor.server.writes.length - before).toBeLessThan(5)
  })
})

describe('a visitor that opens no window', () => {
  test('loses the stream after WRITE_STALL_MS, and the handler is told', async () => {
    vi.useFakeTimers()
    let cancelled = false
    const visitor = await Visitor.open(
      () => {
        const body = new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array(1000)),
          cancel: () => {
            cancelled = true
          },
        })
        return new Response(body)
      },
      {},
      NO_WINDOW,
    )
    await visitor.send(get(1))
    await visitor.next()
    await vi.advanceTimersByTimeAsync(WRITE_STALL_MS - 1000)
    expect(cancelled).toBe(false)
    await vi.advanceTimersByTimeAsync(2000)
    expect(await visitor.next()).toBe('RST_STREAM 1 CANCEL')
    expect(cancelled).toBe(true)
    expect(visitor.requests[0]?.signal.aborted).toBe(true)
    expect(visitor.errors).toEqual([])
  })

  test('that takes a little from time to time keeps it', async () => {
    vi.useFakeTimers()
    const visitor = await Visitor.open(bytes(1000), {}, NO_WINDOW)
    await visitor.send(get(1))
    await visitor.next()
    for (let i = 0; i < 5; i++) {
      await vi.advanceTimersByTimeAsync(WRITE_STALL_MS - 1000)
      await visitor.send(windowUpdate(1, 10))
      expect(await visitor.next()).toBe('DATA 1 10')
    }
  })
})
