// Passes items on in portions with pauses between them, to a receiver that takes only so many at once.

import { PACE_WAITING_MAX } from '../limits.ts'

/** Calls `next` after a pause. @returns a function that ends the wait */
type Pause = (next: () => void) => () => void

export class Pacer<T> {
  readonly #pass: (item: T) => void
  readonly #portion: number
  readonly #pause: Pause
  #waiting: T[] = []
  /** Items that were passed on since the last pause. */
  #passed = 0
  #endPause: (() => void) | undefined

  constructor(pass: (item: T) => void, portion: number, pause: Pause) {
    this.#pass = pass
    this.#portion = portion
    this.#pause = pause
  }

  /** Passes the item on now, or in its turn. @returns false when too many wait: the item is dropped */
  push(item: T): boolean {
    if (this.#waiting.length >= PACE_WAITING_MAX) return false
    if (this.#passed < this.#portion) this.#passNow(item)
    else this.#waiting.push(item)
    return true
  }

  /** Drops the items that wait. */
  clear(): void {
    this.#endPause?.()
    this.#endPause = undefined
    this.#passed = 0
    this.#waiting = []
  }

  #passNow(item: T): void {
    this.#passed += 1
    this.#endPause ??= this.#pause(() => this.#next())
    this.#pass(item)
  }

  #next(): void {
    this.#endPause = undefined
    this.#passed = 0
    for (const item of this.#waiting.splice(0, this.#portion)) this.#passNow(item)
  }
}

/** @returns a pause of so many milliseconds */
export function forMs(duration: number): Pause {
  return (next) => {
    const timer = setTimeout(next, duration).unref()
    return () => clearTimeout(timer)
  }
}

/** A pause until sockets were read. */
export const forATurn: Pause = (next) => {
  const immediate = setImmediate(next)
  return () => clearImmediate(immediate)
}
