// A sink in place of reads: what it gets, when it pauses, how it learns of the end, and memory that is lent to it.

import { describe, expect, test } from 'vitest'
import type { ByteSink, YamuxError } from '../src/index.ts'
import { ReceiveBuffer } from '../src/receive-buffer.ts'
import { pattern } from './support/bytes.ts'
import { scripted } from './support/scripted.ts'

const SYN_1 = '00 01 0001 00000001 00000000'
const WINDOW = 256 * 1024

/** Remembers copies of what comes; takes more while `takesMore` says so. */
class TestSink implements ByteSink {
  readonly taken: number[][] = []
  readonly views: Uint8Array[] = []
  ends = 0
  failure: YamuxError | undefined
  takesMore = true

  take(bytes: Uint8Array): boolean {
    this.taken.push([...bytes])
    this.views.push(bytes)
    return this.takesMore
  }

  end(): void {
    this.ends += 1
  }

  fail(error: YamuxError): void {
    this.failure = error
  }
}

async function opened(options = {}) {
  const peer = scripted(options)
  await peer.feed(SYN_1)
  await peer.sent()
  return { ...peer, stream: peer.streams[0]!, sink: new TestSink() }
}

describe('a sink', () => {
  test('gets what came before it first, and then each payload within the call that brings it', async () => {
    const { session, feed, stream, sink } = await opened()
    await feed('00 00 0000 00000001 00000002 6162')
    stream.passTo(sink)
    expect(sink.taken).toEqual([])
    stream.resume()
    session.receive(Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0x63))
    expect(sink.taken).toEqual([[0x61, 0x62], [0x63]])
  })

  test('that takes no more is left alone until it is resumed; the window bounds what waits', async () => {
    const { feed, sent, stream, sink } = await opened()
    stream.passTo(sink)
    stream.resume()
    sink.takesMore = false
    await feed('00 00 0000 00000001 00000001 61', '00 00 0000 00000001 00000001 62')
    await feed('00 00 0002 00000001 00000001 63')
    expect(sink.taken).toEqual([[0x61]])
    sink.takesMore = true
    stream.resume()
    expect(sink.taken.flat()).toEqual([0x61, 0x62, 0x63])
    sink.takesMore = false
    await feed('00 00 0000 00000001 00000001 64', '00 00 0000 00000001 00040000')
    expect((await sent()).at(-1)).toBe('00 03 0000 00000000 00000001')
    expect(sink.failure).toMatchObject({ code: 'window_exceeded' })
  })

  test('gives the peer credit for what it took', async () => {
    const { feed, sent, stream, sink } = await opened()
    stream.passTo(sink)
    stream.resume()
    await feed('00 00 0000 00000001 00020000', new Uint8Array(WINDOW / 2))
    expect(await sent()).toContain('00 01 0000 00000001 00020000')
  })

  test('learns of the end once, when it took everything', async () => {
    const { feed, stream, sink } = await opened()
    stream.passTo(sink)
    await feed('00 00 0004 00000001 00000001 61')
    expect(sink.ends).toBe(0)
    stream.resume()
    stream.resume()
    expect([sink.taken, sink.ends, sink.failure]).toEqual([[[0x61]], 1, undefined])
  })

  test('learns of a reset, and not of an end as well', async () => {
    const { feed, stream, sink } = await opened()
    stream.passTo(sink)
    stream.resume()
    await feed('00 01 0008 00000001 00000000')
    expect([sink.ends, sink.failure?.code]).toEqual([0, 'stream_reset'])
  })

  test('gets the rest of a complete stream whose session ended', async () => {
    const { session, feed, stream, sink } = await opened()
    stream.passTo(sink)
    await feed('00 00 0004 00000001 00000001 61')
    session.transportClosed()
    expect(sink.failure).toBeUndefined()
    stream.resume()
    expect([sink.taken, sink.ends]).toEqual([[[0x61]], 1])
  })

  test('may reset its stream while it takes', async () => {
    const { feed, stream, sink } = await opened()
    sink.take = () => {
      stream.abort()
      return true
    }
    stream.passTo(sink)
    stream.resume()
    await feed('00 00 0000 00000001 00000001 61', '00 00 0000 00000001 00000001 62')
    expect([sink.ends, sink.failure?.code]).toEqual([0, 'stream_aborted'])
  })

  test('and a read exclude each other', async () => {
    const { stream, sink } = await opened()
    const reading = stream.read()
    expect(() => stream.passTo(sink)).toThrow(expect.objectContaining({ code: 'read_pending' }))
    stream.abort()
    await expect(reading).rejects.toMatchObject({ code: 'stream_aborted' })
  })
})

describe('memory that is lent', () => {
  test('is copied for what waits, and for a reader; a sink sees it as it is', async () => {
    const { session, stream, sink } = await opened({ sharedInput: true })
    const lent = new Uint8Array(12 + 8192)
    const lend = (letter: number): void => {
      lent.set([0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0x20, 0])
      lent.fill(letter, 12)
      session.receive(lent)
    }
    lend(1)
    const reading = stream.read()
    const next = stream.read().catch(() => undefined)
    lend(2)
    expect(new Set(await reading)).toEqual(new Set([1]))
    await next
    const waiting = stream.read()
    lend(3)
    lend(4)
    expect(new Set(await waiting)).not.toContain(4)
    stream.passTo(sink)
    stream.resume()
    lend(5)
    expect(sink.views.at(-1)!.buffer).toBe(lent.buffer)
  })

  test('is copied whole when it is large', () => {
    const buffer = new ReceiveBuffer(
      () => {},
      () => {},
      true,
    )
    const lent = pattern(100_000)
    const expected = new Uint8Array(lent)
    buffer.push(lent)
    lent.fill(0)
    const sink = new TestSink()
    buffer.passTo(sink)
    buffer.resume()
    expect(sink.views).toEqual([expected])
  })
})
