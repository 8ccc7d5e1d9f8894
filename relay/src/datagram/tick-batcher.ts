// Datagrams in portions, with a turn of the event loop or a pause between them, to whoever would lose what comes all at once.

import { TUNNEL_DATAGRAMS_PER_TICK, TUNNEL_QUEUE_MAX } from './limits.ts'

interface BatchOptions {
  /** Items at once. */
  batchSize?: number
  /** Between two portions; 0: sockets are read meanwhile. */
  intervalMs?: number
}

/**
 * By default as many in a turn as Node reads of a socket: the QUIC library brings a thousand in one, and visitors' datagrams would
 * overflow their sockets meanwhile.
 */
export class TickBatcher<T> {
  readonly #process: (item: T) => void
  readonly #batchSize: number
  readonly #intervalMs: number
  #queue: T[] = []
  /** In this turn. */
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

  /** Takes it now, or in its turn. @returns false when too many wait: it is dropped */
  push(item: T): boolean {
    if (this.#queue.length >= TUNNEL_QUEUE_MAX) return false
    if (this.#passedInTick < this.#batchSize) this.#processNow(item)
    else this.#queue.push(item)
    return true
  }

  /** Forgets what waits. */
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

  /** @returns ends it without another one */
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
