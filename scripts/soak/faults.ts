// Makes one fault of the network, or of the relay, after the other.
import type { FaultyRelay } from '../../tools/relay/faulty-relay.ts'
import type { Random } from './random.ts'

/** Milliseconds between the end of one fault and the next. */
const PAUSE_MS = { least: 2_000, most: 20_000 } as const
/** Milliseconds that a lasting fault lasts. */
const LASTING_MS = { least: 500, most: 4_000 } as const
/** Milliseconds after its end in which visitors may notice a fault: the site notices it, and comes back. */
const FELT_MS = 8_000
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
  #feltUntil = Number.NEGATIVE_INFINITY

  #silentUntil = Number.NEGATIVE_INFINITY

  constructor(relay: FaultyRelay, random: Random) {
    this.#relay = relay
    this.#random = random
  }

  /** @returns whether a visit that began at `since` may have met a fault */
  wereFeltSince(since: number): boolean {
    return this.#feltUntil > since
  }

  async run(until: number): Promise<void> {
    for (;;) {
      const { least, most } = PAUSE_MS
      await elapsed(this.#random.between(least, most))
      if (Date.now() > until) return
      this.count += 1
      const { run, feltMs } = this.#random.of(this.#kinds)
      this.#feltUntil = Number.POSITIVE_INFINITY
      await run()
      this.#feltUntil = Math.max(Date.now() + feltMs, this.#silentUntil)
      if (feltMs === SILENCE_FELT_MS) this.#silentUntil = this.#feltUntil
    }
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
