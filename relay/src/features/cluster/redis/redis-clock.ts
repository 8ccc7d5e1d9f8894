// Converts relay time to the engine's clock, by which the ends of leases are agreed on, and back.

import { now } from '../../../core/clock.ts'

/** A difference that is smaller may be the way of the answer, and changes nothing. */
const STEP_MS = 50

export class EngineClock {
  /** Milliseconds by which the engine is ahead of relay time. */
  #ahead: number | undefined

  get isKnown(): boolean {
    return this.#ahead !== undefined
  }

  /** @param engineTime as an answer said it. @param askedAt relay time of the question */
  observe(engineTime: number, askedAt: number): void {
    const time = now()
    const ahead = engineTime - (askedAt + time) / 2
    const isUncertain = time - askedAt > STEP_MS && this.#ahead !== undefined
    if (this.#ahead === undefined || (!isUncertain && Math.abs(ahead - this.#ahead) > STEP_MS))
      this.#ahead = Math.round(ahead)
  }

  toEngine(relayTime: number): number {
    return relayTime + (this.#ahead ?? 0)
  }

  toRelay(engineTime: number): number {
    return engineTime - (this.#ahead ?? 0)
  }
}
