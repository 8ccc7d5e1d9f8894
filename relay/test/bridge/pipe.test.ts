// Tests the rules of every bridge for each way to read and each kind of stream, and the extra ones of the shared buffer.

import { createHash, randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { atDepth, wholeOnly } from '../../../tools/test-depth.ts'
import { createPipe, type Pipe } from '../../src/core/bridge/pipe.ts'
import { COALESCE_BYTES } from '../../src/core/bridge/write-coalescer.ts'
import {
  BRIDGE_TICK_MAX_BYTES,
  LIMITED_READ_MAX_BYTES,
  SharedReadBuffer,
} from '../../src/core/node-internals/shared-read-buffer.ts'
import { Bandwidth } from '../../src/core/rate-limit/bandwidth.ts'
import { KINDS, tcp, tls } from '../support/bridges.ts'

/** What one write of a test brings at most. */
const PIECE_MAX_BYTES = 200_000
/** Bytes that one side sends at most when they are compared. */
const SENT_MAX_BYTES: number = atDepth(2_000_000, 700_000)
/** Of a hundred connections. */
const WAVES: number = atDepth(10, 3)
const PLAIN: Pipe = createPipe(undefined)
const FAST: Pipe = createPipe(await SharedReadBuffer.find())
const PIPES: [string, Pipe][] = [
  ['as Node reads them', PLAIN],
  ['into the shared buffer', FAST],
]
const ALL = PIPES.flatMap(([how, pipe]) => KINDS.map(([kind, a, b]) => ({ how, kind, pipe, a, b })))

const unlimited = (): Bandwidth => new Bandwidth(() => 0)
const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** Or it is gone. */
async function drained(stream: Duplex): Promise<void> {
  if (!stream.writableNeedDrain) return
  await new Promise<void>((resolve) => {
    stream.once('drain', resolve)
    stream.once('close', resolve)
  })
}

/** In pieces of any size, each as soon as there is room; then ends. */
async function send(stream: Duplex, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length && !stream.destroyed; ) {
    const piece = bytes.subarray(at, at + randomInt(1, PIECE_MAX_BYTES))
    at += piece.length
    stream.write(piece)
    await drained(stream)
  }
  stream.end()
}

/** Everything until the end. */
async function receive(stream: Duplex): Promise<Buffer> {
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  if (!stream.readableEnded) await once(stream, 'end')
  return Buffer.concat(chunks)
}

describe.each(ALL)('a bridge between $kind, read $how', ({ pipe, a: openA, b: openB }) => {
  async function bridge(bandwidth = unlimited()) {
    const [a, b] = await Promise.all([openA(), openB()])
    return { left: a.far, right: b.far, a: a.near, b: b.near, over: pipe(a.near, b.near, bandwidth) }
  }

  test('carries every byte both ways at once, beside others', async () => {
    const one = async () => {
      const { left, right, over } = await bridge()
      const [there, back] = [randomBytes(randomInt(SENT_MAX_BYTES)), randomBytes(randomInt(SENT_MAX_BYTES))]
      const [received, answered] = await Promise.all([
        receive(right),
        receive(left),
        send(left, there),
        send(right, back),
      ])
      expect([digest(received), digest(answered)]).toEqual([digest(there), digest(back)])
      await over
    }
    await Promise.all([one(), one(), one()])
  })

  test.each(['left', 'right'] as const)('goes on the other way when the %s end has ended', async (first) => {
    const { left, right, over } = await bridge()
    const [early, late] = first === 'left' ? [left, right] : [right, left]
    early.end('first')
    expect((await receive(late)).toString()).toBe('first')
    const rest = randomBytes(1_000_000)
    const [received] = await Promise.all([receive(early), send(late, rest)])
    expect(digest(received)).toBe(digest(rest))
    await over
  })

  test('passes on what had come, and the end, before it began', async () => {
    const [a, b] = await Promise.all([openA(), openB()])
    const early = randomBytes(60_000)
    b.far.end(early)
    await once(b.near, 'readable')
    const over = pipe(a.near, b.near, unlimited())
    expect(digest(await receive(a.far))).toBe(digest(early))
    a.far.end()
    b.far.resume()
    await over
  })

  test('passes on an end without a byte that came before it began', async () => {
    const [a, b] = await Promise.all([openA(), openB()])
    b.far.end()
    await once(b.near.resume(), 'end')
    const over = pipe(a.near, b.near, unlimited())
    expect(await receive(a.far)).toHaveLength(0)
    a.far.end()
    b.far.resume()
    await over
  })

  test('breaks off both when one is broken off, at whatever point', async () => {
    for (const side of ['left', 'right', 'left', 'right'] as const) {
      const ends = await bridge()
      const { left, right, over } = ends
      let rest = randomInt(1_000_000)
      for (const stream of [left, right]) {
        stream.on('error', () => {})
        stream.on('data', (chunk: Buffer) => {
          rest -= chunk.length
          if (rest < 0) ends[side].destroy()
        })
        void send(stream, randomBytes(1_000_000))
      }
      await over
      expect([ends.a.destroyed, ends.b.destroyed]).toEqual([true, true])
      left.destroy()
      right.destroy()
    }
  })

  test('holds no more than a few reads for one that does not read, and then every byte', async () => {
    const { left, right, a, b, over } = await bridge()
    const bytes = randomBytes(24_000_000)
    const sent = send(left, bytes)
    // Full is what takes nothing more while the loop turns: the kernel has room for some megabytes of it.
    for (let held = -1, idle = 0; idle < 20; idle++) {
      await new Promise((resolve) => setTimeout(resolve, 5))
      if (left.writableLength !== held) idle = 0
      held = left.writableLength
      expect(a.readableLength + b.writableLength).toBeLessThanOrEqual(3 * BRIDGE_TICK_MAX_BYTES)
    }
    const [received] = await Promise.all([receive(right), sent])
    expect(digest(received)).toBe(digest(bytes))
    right.end()
    left.resume()
    await over
  })

  test('is over when one that stopped reading leaves', async () => {
    const { left, right, over } = await bridge()
    left.on('error', () => {})
    void send(left, randomBytes(12_000_000))
    await once(right, 'readable')
    right.destroy()
    await over
    left.destroy()
  })
})

describe.each(PIPES)('a bridge read %s', (_how, pipe) => {
  async function joined(bandwidth: Bandwidth) {
    const [a, b] = await Promise.all([tcp(), tcp()])
    return { left: a.far, right: b.far, over: pipe(a.near, b.near, bandwidth) }
  }

  wholeOnly(test, 'depth')('carries hundreds of short connections', async () => {
    const one = async () => {
      const { left, right, over } = await joined(unlimited())
      left.end('question')
      right.end('answer')
      const [there, back] = await Promise.all([receive(right), receive(left), over])
      expect([`${there}`, `${back}`]).toEqual(['question', 'answer'])
    }
    for (let wave = 0; wave < WAVES; wave++) await Promise.all(Array.from({ length: 100 }, one))
  })

  test('a side that is reset takes the other along', async () => {
    const { left, right, over } = await joined(unlimited())
    ;(left as Socket).resetAndDestroy()
    expect((await receive(right)).length).toBe(0)
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
    const [there, back] = await Promise.all([receive(right), receive(left)])
    expect([there.length, back.length]).toEqual([150_000, 150_000])
    // 300,000 bytes, of which one second's worth may be saved up and the last read is not waited for.
    expect(performance.now() - started).toBeGreaterThan(100)
  })

  test('two connections share one rate', async () => {
    const bandwidth = new Bandwidth(() => 200_000)
    const one = async () => {
      const { left, right } = await joined(bandwidth)
      left.end(Buffer.alloc(150_000))
      return (await receive(right)).length
    }
    const started = performance.now()
    expect(await Promise.all([one(), one()])).toEqual([150_000, 150_000])
    expect(performance.now() - started).toBeGreaterThan(100)
  })

  test.each([
    ['TCP', tcp],
    ['TLS', tls],
  ])('leaves the others their turn: what %s may bring in one is bounded', async (_kind, open) => {
    const { near, far } = await open()
    far.end(Buffer.alloc(8_000_000))
    // For the kernel to have plenty.
    await new Promise((resolve) => setTimeout(resolve, 50))
    const sink = new Turns()
    const over = pipe(near, sink, unlimited())
    far.resume()
    await over
    expect(sink.total).toBe(8_000_000)
    // Node reads 64 KiB at a time, and decrypts what TLS has already read though no more is asked for.
    expect(sink.mostInATurn).toBeLessThanOrEqual(BRIDGE_TICK_MAX_BYTES + 64 * 1024)
  })
})

describe('a bridge read into the shared buffer', () => {
  test('keeps what has to wait behind an earlier write, while later reads land in the same place', async () => {
    const [a, b] = await Promise.all([tcp(), tls()])
    const over = FAST(a.near, b.near, unlimited())
    const bytes = randomBytes(16_000_000)
    let at = 0
    // Little by little, so that several reads wait before the bridge stops reading.
    while (!a.far.writableNeedDrain && at < bytes.length) {
      a.far.write(bytes.subarray(at, at + 9_000))
      at += 9_000
      await new Promise((resolve) => setImmediate(resolve))
    }
    a.far.end()
    b.far.end()
    a.far.resume()
    expect(digest(await receive(b.far))).toBe(digest(bytes.subarray(0, at)))
    await over
  })

  test('what waits for a slow reader is not overwritten by bridges that begin, go on or break off', async () => {
    const fast = async () => {
      const [a, b] = await Promise.all([tcp(), tcp()])
      return { left: a.far, right: b.far, over: FAST(a.near, b.near, unlimited()) }
    }
    const slow = await fast()
    const bytes = randomBytes(8_000_000)
    const sent = send(slow.left, bytes)
    for (let round = 0; round < 20; round++) {
      const other = await fast()
      other.left.on('error', () => {})
      void send(other.left, Buffer.alloc(2_000_000, round))
      if (round % 2 === 0) {
        await once(other.right, 'readable')
        other.right.destroy()
      } else {
        await receive(other.right)
        other.right.end()
        other.left.resume()
      }
      await other.over
      other.left.destroy()
    }
    const [received] = await Promise.all([receive(slow.right), sent])
    expect(digest(received)).toBe(digest(bytes))
    slow.right.end()
    slow.left.resume()
    await slow.over
  })

  test('reads little at a time for those who have a rate', async () => {
    const { near, far } = await tcp()
    const sink = new Turns()
    const over = FAST(near, sink, new Bandwidth(() => 1e9))
    far.end(Buffer.alloc(1_000_000))
    far.resume()
    await over
    expect(sink.total).toBe(1_000_000)
    // What was read before the bridge began is up to Node.
    expect(sink.pieces.slice(1).every((bytes) => bytes <= LIMITED_READ_MAX_BYTES)).toBe(true)
  })

  test('gathers records: they leave in fewer pieces than they came', async () => {
    const { near, far } = await tls()
    const sink = new Turns()
    const over = FAST(near, sink, unlimited())
    far.end(Buffer.alloc(4_000_000))
    far.resume()
    await over
    expect(sink.total).toBe(4_000_000)
    expect(sink.pieces.every((bytes) => bytes <= COALESCE_BYTES)).toBe(true)
    expect(sink.pieces.length).toBeLessThan(4_000_000 / 2 ** 14)
  })
})

/** Takes everything at once and has nothing to say. Counts what comes within one turn of the event loop. */
class Turns extends Duplex {
  readonly pieces: number[] = []
  mostInATurn = 0
  #inTurn = 0

  get total(): number {
    return this.pieces.reduce((sum, bytes) => sum + bytes, 0)
  }

  override _read(): void {
    this.push(null)
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (this.#inTurn === 0)
      setImmediate(() => {
        this.#inTurn = 0
      })
    this.#inTurn += chunk.length
    this.mostInATurn = Math.max(this.mostInATurn, this.#inTurn)
    this.pieces.push(chunk.length)
    done()
  }
}
