// A queue of datagrams that is sent in batches and drops old datagrams in favour of newer ones.

import {
  DATAGRAM_QUEUE_MAX,
  DATAGRAM_STANDING_INTERVAL_MS,
  DATAGRAM_STANDING_TARGET_MS,
  DATAGRAM_STANDING_WAIT_MAX_MS,
  DATAGRAM_WAIT_MAX_MS,
} from './limits.ts'

/** A Pause calls `next` once, after a short time. It returns a function that cancels this. */
export type Pause = (next: () => void) => () => void

/** DatagramQueueParts are the dependencies of a {@link DatagramQueue}. */
export interface DatagramQueueParts<T> {
  /** Sends the next item. */
  pass: (item: T) => void
  /** Called with an item that became too old. */
  tooOld: (item: T) => void
  /** The number of items in a batch. */
  batchSize: number
  /** The pause between two batches, for other work. */
  pause: Pause
  /** The clock of {@link DatagramQueue.push}'s times, in milliseconds. @default performance.now */
  now?: () => number
}

interface Waiting<T> {
  item: T
  at: number
}

/**
 * A DatagramQueue sends one batch at a time, and drops what has waited too long, because users of UDP prefer recent data to
 * complete data: {@link DATAGRAM_WAIT_MAX_MS} after a burst or a stall, and {@link DATAGRAM_STANDING_WAIT_MAX_MS} in a standing queue, as
 * in CoDel (RFC 8289). The newest item is always sent, because nothing waits behind it.
 */
export class DatagramQueue<T> {
  readonly #parts: Required<DatagramQueueParts<T>>
  #waiting: Waiting<T>[] = []
  /** The number of sent items of the current batch. */
  #passed = 0
  #cancelNext: (() => void) | undefined
  /** The time since which every item has waited for more than {@link DATAGRAM_STANDING_TARGET_MS}. */
  #standsSince: number | undefined

  /** The time at which the last item was sent. */
  #leftAt = 0

  constructor(parts: DatagramQueueParts<T>) {
    this.#parts = { now: () => performance.now(), ...parts }
  }

  /**
   * Sends the item now or in its turn.
   * @param at the time since which the item has waited, including before this queue; default: now
   * @returns false when {@link DATAGRAM_QUEUE_MAX} items wait and this one is dropped
   */
  push(item: T, at: number = this.#parts.now()): boolean {
    if (this.#waiting.length >= DATAGRAM_QUEUE_MAX) return false
    const hasTurn = this.#waiting.length === 0 && this.#passed < this.#parts.batchSize
    if (hasTurn && !this.#isTooOld(at)) this.#pass(item)
    else {
      this.#waiting.push({ item, at })
      // Items pushed together with an old one decide whether newer ones wait behind it.
      this.#cancelNext ??= afterThisCall(() => this.#next())
    }
    return true
  }

  /** Drops all waiting items, without calling `tooOld`. */
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
      // Sending the previous one may have taken long.
      const isTooOld = this.#isTooOld(at) && this.#waiting.length > 0
      if (isTooOld) this.#parts.tooOld(item)
      else this.#pass(item)
    }
  }

  #isTooOld(at: number): boolean {
    const now = this.#parts.now()
    const wait = now - at
    // An item that came after the previous one was sent found the queue empty.
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
