// A queue of datagrams that is passed on in batches, and in which none grows old while younger ones wait behind it.

import {
  DATAGRAM_QUEUE_MAX,
  DATAGRAM_STANDING_INTERVAL_MS,
  DATAGRAM_STANDING_TARGET_MS,
  DATAGRAM_STANDING_WAIT_MAX_MS,
  DATAGRAM_WAIT_MAX_MS,
} from './limits.ts'

/** A Pause calls `next` once, after a while. It returns a function that cancels this. */
export type Pause = (next: () => void) => () => void

/** DatagramQueueParts are what a {@link DatagramQueue} works with. */
export interface DatagramQueueParts<T> {
  /** Takes the next item. */
  pass: (item: T) => void
  /** Called with an item that became too old. */
  tooOld: (item: T) => void
  /** Items of one batch. */
  batchSize: number
  /** The time between two batches, in which other work is done. */
  pause: Pause
  /** Milliseconds of the clock of {@link DatagramQueue.push}'s times. @default performance.now */
  now?: () => number
}

interface Waiting<T> {
  item: T
  at: number
}

/**
 * A DatagramQueue passes one batch on at a time, and drops what has waited for too long, for UDP's users prefer the present to the
 * complete: {@link DATAGRAM_WAIT_MAX_MS} after a burst or a stall, and {@link DATAGRAM_STANDING_WAIT_MAX_MS} once the queue stands, as
 * in CoDel (RFC 8289). The youngest item always passes: behind it nothing waits, and so there is no queue.
 */
export class DatagramQueue<T> {
  readonly #parts: Required<DatagramQueueParts<T>>
  #waiting: Waiting<T>[] = []
  /** Items of the current batch that were passed on. */
  #passed = 0
  #cancelNext: (() => void) | undefined
  /** Time since which every item had waited for more than {@link DATAGRAM_STANDING_TARGET_MS}. */
  #standsSince: number | undefined

  /** Time at which the last item left. */
  #leftAt = 0

  constructor(parts: DatagramQueueParts<T>) {
    this.#parts = { now: () => performance.now(), ...parts }
  }

  /**
   * Passes the item on now, or in its turn.
   * @param at the time since which the item waits, also before it came here; default: now
   * @returns false when {@link DATAGRAM_QUEUE_MAX} items wait, and this one is dropped
   */
  push(item: T, at: number = this.#parts.now()): boolean {
    if (this.#waiting.length >= DATAGRAM_QUEUE_MAX) return false
    const hasTurn = this.#waiting.length === 0 && this.#passed < this.#parts.batchSize
    if (hasTurn && !this.#isTooOld(at)) this.#pass(item)
    else {
      this.#waiting.push({ item, at })
      // what comes with an old item decides whether a younger one waits behind it
      this.#cancelNext ??= afterThisCall(() => this.#next())
    }
    return true
  }

  /** Drops what waits, and calls nothing for it. */
  clear(): void {
    this.#cancelNext?.()
    this.#cancelNext = undefined
    this.#passed = 0
    this.#waiting = []
  }

  #pass(item: T): void {
    this.#passed += 1
    this.#cancelNext ??= this.#parts.pause(() => this.#next())
    this.#parts.pass(item)
  }

  #next(): void {
    this.#cancelNext = undefined
    this.#passed = 0
    while (this.#waiting.length > 0 && this.#passed < this.#parts.batchSize) {
      const { item, at } = this.#waiting.shift()!
      // the one before may have taken its time
      const isTooOld = this.#isTooOld(at) && this.#waiting.length > 0
      if (isTooOld) this.#parts.tooOld(item)
      else this.#pass(item)
    }
  }

  #isTooOld(at: number): boolean {
    const now = this.#parts.now()
    const wait = now - at
    // what came after the one before had left found the queue empty
    if (wait <= DATAGRAM_STANDING_TARGET_MS || at >= this.#leftAt) this.#standsSince = undefined
    else this.#standsSince ??= now
    this.#leftAt = now
    const stands = now - (this.#standsSince ?? now) >= DATAGRAM_STANDING_INTERVAL_MS
    return wait > (stands ? DATAGRAM_STANDING_WAIT_MAX_MS : DATAGRAM_WAIT_MAX_MS)
  }
}

const afterThisCall: Pause = (next) => {
  let isCancelled = false
  queueMicrotask(() => {
    if (!isCancelled) next()
  })
  return () => {
    isCancelled = true
  }
}
