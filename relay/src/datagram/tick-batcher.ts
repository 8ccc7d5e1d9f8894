// Passes datagrams on in batches, with a turn of the event loop or an interval between them, so that no buffer overflows.

import { TUNNEL_DATAGRAMS_PER_TICK, TUNNEL_QUEUE_MAX } from './limits.ts'

interface BatchOptions {
  /** Items in one batch. @default TUNNEL_DATAGRAMS_PER_TICK */
  batchSize?: number
  /** Milliseconds between two batches; 0 means one turn of the event loop. @default 0 */
  intervalMs?: number
}

/**
 * Passes at most one batch on at a time. By default a batch is as much as Node reads of a socket in one turn: the QUIC library
 * brings a thousand datagrams at once, and the sockets of visitors would overflow meanwhile.
 */
export class TickBatcher<T> {
  readonly #process: (item: T) => void
  readonly #batchSize: number
  readonly #intervalMs: number
  #queue: T[] = []
  /** Items passed on in the current batch. */
  #passedInTick = 0
  #cancelTick: (() => void) | undefined

  constructor(
    process: (item: T) => void,
    { batchSize = TUNNEL_DATAGRAMS_PER_TICK, intervalMs = 0 }: BatchOptions = {},
  ) {
    this.#process = process
    this.#batchSize = batchSize
    this.#intervalMs = intervalMs
  }

  /** Passes the item on now or in a later batch. @returns false when too many wait and the item is dropped */
  push(item: T): boolean {
    if (this.#queue.length >= TUNNEL_QUEUE_MAX) return false
    if (this.#passedInTick < this.#batchSize) this.#processNow(item)
    else this.#queue.push(item)
    return true
  }

  /** Drops the waiting items. */
  clear(): void {
    this.#cancelTick?.()
    this.#cancelTick = undefined
    this.#passedInTick = 0
    this.#queue = []
  }

  #processNow(item: T): void {
    this.#passedInTick += 1
    this.#cancelTick ??= this.#startTick()
    this.#process(item)
  }

  /** @returns a function that cancels the next batch */
  #startTick(): () => void {
    const next = (): void => {
      this.#cancelTick = undefined
      this.#passedInTick = 0
      for (const item of this.#queue.splice(0, this.#batchSize)) this.#processNow(item)
    }
    if (this.#intervalMs === 0) {
      const immediate = setImmediate(next)
      return () => clearImmediate(immediate)
    }
    const timer = setTimeout(next, this.#intervalMs)
    return () => clearTimeout(timer)
  }
}
