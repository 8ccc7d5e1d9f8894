// The longest time until the head of a response.

import { Deadline } from '../timers/deadline.ts'

/** LATE is the outcome of an operation that took too long. */
export const LATE: unique symbol = Symbol('no answer in time')

export class AnswerDeadline {
  readonly #ms: number | undefined
  readonly #late = Promise.withResolvers<typeof LATE>()
  readonly #deadline = new Deadline(() => this.#late.resolve(LATE))
  #isOver = false

  /** @param ms undefined for no deadline */
  constructor(ms: number | undefined) {
    this.#ms = ms
  }

  /** Lets the time begin, or begin again. */
  begin(): void {
    if (this.#ms !== undefined && !this.#isOver) this.#deadline.set(performance.now() + this.#ms)
  }

  /** Resolves with the outcome of an operation, or with `LATE`. */
  async outcome<T>(operation: Promise<T>): Promise<T | typeof LATE> {
    if (this.#ms === undefined) return operation
    this.begin()
    try {
      return await Promise.race([operation, this.#late.promise])
    } finally {
      this.#isOver = true
      this.#deadline.close()
    }
  }
}
