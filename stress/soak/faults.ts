// Makes one fault of the network, or of the relay, after the other.
import type { FaultyRelay } from '../../tools/relay/faulty-relay.ts'
import type { Random } from './random.ts'

/** Milliseconds between the end of one fault and the next. */
const PAUSE_MS = { least: 2_000, most: 20_000 } as const
/** Milliseconds that a lasting fault lasts. */
const LASTING_MS = { least: 500, most: 4_000 } as const
/**
 * Milliseconds after its end in which visitors may notice a fault: the site notices it, and comes back. They may until one is
 * served then, since a busy machine takes longer.
 */
const FELT_MS = 8_000
const AGAIN_MS = 500
/** The same for a fault of silence, which may take 20 s to notice at the site and 40 s at the relay. */
const SILENCE_FELT_MS = 45_000

interface Fault {
  run(): Promise<void> | void
  feltMs: number
}

export class Faults {
  count = 0
  readonly #relay: FaultyRelay
  readonly #random: Random
  readonly #isServed: () => Promise<boolean>
  /** Faults of which the site is not back yet. */
  #felt = 0
  #feltUntil = Number.NEGATIVE_INFINITY

  /** @param isServed visits the site; never rejects */
  constructor(relay: FaultyRelay, random: Random, isServed: () => Promise<boolean>) {
    this.#relay = relay
    this.#random = random
    this.#isServed = isServed
  }

  /** @returns whether a visit that began at `since` may have met a fault */
  wereFeltSince(since: number): boolean {
    return this.#felt > 0 || this.#feltUntil > since
  }

  async run(until: number): Promise<void> {
    for (;;) {
      const { least, most } = PAUSE_MS
      await elapsed(this.#random.between(least, most))
      if (Date.now() > until) return
      this.count += 1
      const { run, feltMs } = this.#random.of(this.#kinds)
      this.#felt += 1
      await run()
      void this.#untilServed(feltMs)
    }
  }

  /** Waits until a visitor is served who comes after the time in which the fault may be noticed. */
  async #untilServed(feltMs: number): Promise<void> {
    await elapsed(feltMs)
    while (!(await this.#isServed())) await elapsed(AGAIN_MS)
    this.#felt -= 1
    this.#feltUntil = Date.now()
  }

  readonly #kinds: readonly Fault[] = [
    { feltMs: FELT_MS, run: () => this.#relay.proxy.cut() },
    { feltMs: SILENCE_FELT_MS, run: () => this.#relay.proxy.stall() },
    { feltMs: SILENCE_FELT_MS, run: () => this.#relay.proxy.halfOpen() },
    { feltMs: FELT_MS, run: () => this.#while('delayMs', 100, 0) },
    { feltMs: FELT_MS, run: () => this.#while('pieceBytes', 1, Number.POSITIVE_INFINITY) },
    { feltMs: FELT_MS, run: () => this.#beDown() },
    { feltMs: FELT_MS, run: () => this.#restart() },
  ]

  async #beDown(): Promise<void> {
    this.#relay.proxy.isDown = true
    this.#relay.proxy.cut()
    await this.#lasting()
    this.#relay.proxy.isDown = false
  }

  async #restart(): Promise<void> {
    await this.#relay.kill()
    await this.#relay.start()
  }

  async #while(setting: 'delayMs' | 'pieceBytes', value: number, usual: number): Promise<void> {
    this.#relay.proxy[setting] = value
    await this.#lasting()
    this.#relay.proxy[setting] = usual
  }

  #lasting(): Promise<void> {
    return elapsed(this.#random.between(LASTING_MS.least, LASTING_MS.most))
  }
}

function elapsed(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
