// What a tunnel brings, a little in each turn of the event loop: the QUIC library brings a thousand datagrams in one, and of a
// socket Node reads but 32, so that visitors' datagrams would overflow it meanwhile.

import { TUNNEL_PER_TURN, TUNNEL_WAITING_MAX } from '../limits.ts'

export class Turns<T> {
  readonly #take: (item: T) => void
  #waiting: T[] = []
  /** In this turn. */
  #taken = 0
  #next: NodeJS.Immediate | undefined

  constructor(take: (item: T) => void) {
    this.#take = take
  }

  /** Takes it now, or in its turn. @returns false when too many wait: it is dropped */
  push(item: T): boolean {
    if (this.#waiting.length >= TUNNEL_WAITING_MAX) return false
    if (this.#taken < TUNNEL_PER_TURN) this.#takeNow(item)
    else this.#waiting.push(item)
    return true
  }

  /** Forgets what waits. */
  clear(): void {
    clearImmediate(this.#next)
    this.#next = undefined
    this.#taken = 0
    this.#waiting = []
  }

  #takeNow(item: T): void {
    this.#taken += 1
    this.#next ??= setImmediate(() => this.#turn())
    this.#take(item)
  }

  #turn(): void {
    this.#next = undefined
    this.#taken = 0
    for (const item of this.#waiting.splice(0, TUNNEL_PER_TURN)) this.#takeNow(item)
  }
}
