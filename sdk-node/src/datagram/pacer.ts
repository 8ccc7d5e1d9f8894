// Sends at the pace that the QUIC library keeps up with: what it is given beyond that, it loses without a word.

import { PACE_BURST, PACE_PAUSE_MS, PACE_WAITING_MAX } from '../limits.ts'

export class Pacer<T> {
  readonly #send: (item: T) => void
  #waiting: T[] = []
  /** Sent since the last pause. */
  #sent = 0
  #timer: NodeJS.Timeout | undefined

  constructor(send: (item: T) => void) {
    this.#send = send
  }

  /** Sends it now, or in its turn. @returns false when too many wait: it is dropped */
  push(item: T): boolean {
    if (this.#waiting.length >= PACE_WAITING_MAX) return false
    if (this.#sent < PACE_BURST) this.#sendNow(item)
    else this.#waiting.push(item)
    return true
  }

  /** Forgets what waits. */
  clear(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#sent = 0
    this.#waiting = []
  }

  #sendNow(item: T): void {
    this.#sent += 1
    this.#timer ??= setTimeout(() => this.#next(), PACE_PAUSE_MS).unref()
    this.#send(item)
  }

  #next(): void {
    this.#timer = undefined
    this.#sent = 0
    for (const item of this.#waiting.splice(0, PACE_BURST)) this.#sendNow(item)
  }
}
