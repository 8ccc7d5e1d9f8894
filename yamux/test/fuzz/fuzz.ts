// Fuzz target `yamux`: random and mutated frames against a session whose user and transport are random as well.

import { Session, type Stream } from '../../src/index.ts'
import { readableOf, writableOf } from '../../src/web-streams.ts'
import { headers, turn } from '../support/scripted.ts'

const RUN_MAX_MS = 5000
const MEMORY_MAX_BYTES = 768 * 1024 * 1024
const RUNS_PER_MEMORY_CHECK = 50
const MAX_MESSAGE_BYTES = 4 * (12 + 16_645)

/**
 * @returns how many sessions were run
 * @throws Error for a crash, a hang, unbounded memory or a broken promise, with the seed of the run
 */
export async function fuzz(goesOn: (runs: number) => boolean, seed: number): Promise<{ runs: number }> {
  const random = new Random(seed)
  let runs = 0
  for (; goesOn(runs); runs++) {
    const runSeed = random.below(2 ** 32)
    const started = performance.now()
    try {
      await new Run(new Random(runSeed)).play()
      if (performance.now() - started > RUN_MAX_MS) throw new Error(`took more than ${RUN_MAX_MS} ms`)
      if (runs % RUNS_PER_MEMORY_CHECK === 0) checkMemory()
    } catch (cause) {
      throw new Error(`yamux run with seed ${runSeed}: ${cause}`, { cause })
    }
  }
  return { runs }
}

class Run {
  readonly #random: Random
  readonly #session: Session
  readonly #maxStreams: number
  readonly #drains: (() => void)[] = []
  #pending = 0
  #closes = 0
  #transportLost = false
  #violation: string | undefined

  constructor(random: Random) {
    this.#random = random
    this.#maxStreams = 1 + random.below(40)
    this.#session = new Session(
      { send: (message) => this.#onSend(message), copies: random.chance(0.5), close: () => this.#closes++ },
      {
        role: random.chance(0.5) ? 'client' : 'server',
        onStream: (stream) => this.#use(stream),
        keepAliveIntervalMs: 0,
        openTimeoutMs: random.below(3) * 20,
        closeTimeoutMs: random.below(3) * 20,
        pingTimeoutMs: 1 + random.below(20),
        maxStreams: this.#maxStreams,
        acceptBacklog: 1 + random.below(20),
        windowBudgetBytes: random.below(2 ** 21),
      },
    )
  }

  async play(): Promise<void> {
    const wire = this.#wire()
    for (let at = 0; at < wire.length; ) {
      const step = this.#random.chance(0.2) ? 1 : 1 + this.#random.below(40_000)
      // Copied, because a session owns what it is given.
      this.#session.receive(wire.slice(at, at + step))
      at += step
      if (this.#session.streamCount > this.#maxStreams) throw new Error('more streams than allowed')
      if (this.#random.chance(0.1)) this.#actLocally()
      if (this.#random.chance(0.1)) await turn()
      if (this.#random.chance(0.3)) this.#drains.shift()?.()
    }
    await turn()
    this.#session.close()
    await this.#session.closed
    await turn()
    await turn()
    if (this.#pending > 0) throw new Error(`${this.#pending} promises are pending after close`)
    if (this.#closes !== (this.#transportLost ? 0 : 1)) throw new Error(`closed ${this.#closes} times`)
    if (this.#violation !== undefined) throw new Error(this.#violation)
    if (this.#session.streamCount > 0) throw new Error('streams are left after close')
  }

  /** A throw here is only a broken transport to the session: violations are kept for the end. */
  #onSend(message: Uint8Array): Promise<void> | undefined {
    if (this.#closes > 0 || this.#transportLost) this.#violation ??= 'sent after the end'
    if (message.length === 0 || message.length > MAX_MESSAGE_BYTES)
      this.#violation ??= `sent a message of ${message.length} bytes`
    const odd = headers(message).find(
      (header) => !/^00 0[0-3] 000[0-8] [0-9a-f]{8} [0-9a-f]{8}$/.test(header),
    )
    if (odd !== undefined) this.#violation ??= `sent ${odd}`
    if (this.#random.chance(0.01)) throw new Error('a broken transport')
    if (!this.#random.chance(0.2)) return undefined
    return new Promise((resolve) => this.#drains.push(resolve))
  }

  #loseTransport(): void {
    this.#transportLost = this.#closes === 0
    this.#session.transportClosed()
  }

  /** A user of the stream, with a mind of its own. */
  #use(stream: Stream): void {
    const { chance, below } = this.#random
    if (chance(0.2)) this.#track(stream.write(new Uint8Array(below(600_000))))
    if (chance(0.3)) this.#track(readSome(stream, below(20)))
    if (chance(0.3)) this.#track(stream.end())
    if (chance(0.1)) stream.abort()
    if (chance(0.05)) this.#track(readableOf(stream).pipeTo(writableOf(stream)))
  }

  #actLocally(): void {
    const { chance } = this.#random
    if (chance(0.5)) this.#track(this.#session.open().then((stream) => this.#use(stream)))
    if (chance(0.2)) this.#track(this.#session.ping())
    if (chance(0.02)) this.#session.goAway()
    if (chance(0.01)) this.#loseTransport()
  }

  #track(promise: Promise<unknown>): void {
    this.#pending++
    const settled = () => void this.#pending--
    promise.then(settled, settled)
  }

  #wire(): Uint8Array {
    const frames = Buffer.concat(Array.from({ length: 1 + this.#random.below(150) }, () => this.#frame()))
    const mutations = this.#random.chance(0.3) ? this.#random.below(10) : 0
    for (let i = 0; i < mutations; i++) frames[this.#random.below(frames.length)] = this.#random.below(256)
    return new Uint8Array(frames)
  }

  #frame(): Uint8Array {
    const { chance, below, pick } = this.#random
    const type = chance(0.001) ? below(256) : pick([0, 0, 0, 1, 1, 2, 3])
    const flags = chance(0.01) ? below(65536) : pick([0, 0, 0, 1, 1, 2, 4, 8, 5, 3])
    const length = type === 3 ? Number(chance(0.02)) : chance(0.01) ? below(2 ** 32) : pick(LENGTHS)
    const payload = type === 0 ? Math.min(length, chance(0.005) ? below(1000) : 300_000) : 0
    const frame = new Uint8Array(12 + payload)
    const view = new DataView(frame.buffer)
    view.setUint8(1, type)
    view.setUint16(2, flags)
    view.setUint32(4, chance(0.005) ? below(2 ** 32) : type > 1 ? 0 : 1 + below(30))
    view.setUint32(8, length)
    return frame
  }
}

const LENGTHS = [0, 0, 1, 5, 100, 100, 1000, 4096, 16_372, 65_536, 131_072]

async function readSome(stream: Stream, times: number): Promise<void> {
  for (let i = 0; i < times; i++) if ((await stream.read()) === undefined) return
}

function checkMemory(): void {
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  if (heapUsed + arrayBuffers > MEMORY_MAX_BYTES)
    throw new Error(`${heapUsed + arrayBuffers} bytes of memory are used`)
}

/** The same numbers for the same seed (mulberry32). Its methods can be taken out of it. */
class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  below = (limit: number): number => {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit)
  }

  chance = (probability: number): boolean => this.below(2 ** 32) < probability * 2 ** 32

  pick = <T>(from: readonly T[]): T => from[this.below(from.length)]!
}
