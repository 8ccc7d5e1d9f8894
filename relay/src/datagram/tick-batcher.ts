// Datagrams in portions, with a turn of the event loop or a pause between them, to whoever would lose what comes all at once.

import { TUNNEL_PER_TURN, TUNNEL_WAITING_MAX } from './limits.ts'

interface Portions {
  /** Items at once. */
  portion?: number
  /** Between two portions; 0: sockets are read meanwhile. */
  pauseMs?: number
}

/**
 * By default as many in a turn as Node reads of a socket: the QUIC library brings a thousand in one, and visitors' datagrams would
 * overflow their sockets meanwhile.
 */
export class TickBatcher<T> {
  readonly #take: (item: T) => void
  readonly #portion: number
  readonly #pauseMs: number
  #waiting: T[] = []
  /** In this turn. */
  #taken = 0
  #endTurn: (() => void) | undefined

  constructor(take: (item: T) => void, { portion = TUNNEL_PER_TURN, pauseMs = 0 }: Portions = {}) {
    this.#take = take
    this.#portion = portion
    this.#pauseMs = pauseMs
  }

  /** Takes it now, or in its turn. @returns false when too many wait: it is dropped */
  push(item: T): boolean {
    if (this.#waiting.length >= TUNNEL_WAITING_MAX) return false
    if (this.#taken < this.#portion) this.#takeNow(item)
    else this.#waiting.push(item)
    return true
  }

  /** Forgets what waits. */
  clear(): void {
    this.#endTurn?.()
    this.#endTurn = undefined
    this.#taken = 0
    this.#waiting = []
  }

  #takeNow(item: T): void {
    this.#taken += 1
    this.#endTurn ??= this.#beginTurn()
    this.#take(item)
  }

  /** @returns ends it without another one */
  #beginTurn(): () => void {
    const next = (): void => {
      this.#endTurn = undefined
      this.#taken = 0
      for (const item of this.#waiting.splice(0, this.#portion)) this.#takeNow(item)
    }
    if (this.#pauseMs === 0) {
      const immediate = setImmediate(next)
      return () => clearImmediate(immediate)
    }
    const timer = setTimeout(next, this.#pauseMs)
    return () => clearTimeout(timer)
  }
}
