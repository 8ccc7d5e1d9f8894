// Orders many deadlines behind one timer in a binary heap, and expires a limited number in each turn of the event loop, so
// that many at once do not delay visitors.

import { TIMER_MAX_MS } from '@svc/protocol/timers'
import { now } from '../clock.ts'

/** Leases that may expire in one turn of the event loop, at some 10 µs each: more would delay visitors. */
export const EXPIRIES_PER_TICK = 256

export interface ExpiryEntry<T> {
  readonly value: T
  /** Relay time. */
  at: number
  /** Its index in the heap. */
  index: number
}

export class ExpiryHeap<T> {
  readonly #due: (value: T) => void
  /** Each is due no earlier than the one at half its index. */
  readonly #heap: ExpiryEntry<T>[] = []
  #timer: NodeJS.Timeout | undefined
  #timerAt: number = Number.POSITIVE_INFINITY

  /** @param due called with each value that is due, after its removal */
  constructor(due: (value: T) => void) {
    this.#due = due
  }

  add(value: T, at: number): ExpiryEntry<T> {
    const deadline = { value, at, index: this.#heap.length }
    this.#heap.push(deadline)
    this.#rise(deadline)
    this.#arm()
    return deadline
  }

  move(deadline: ExpiryEntry<T>, at: number): void {
    deadline.at = at
    this.#rise(deadline)
    this.#sink(deadline)
    this.#arm()
  }

  remove(deadline: ExpiryEntry<T>): void {
    if (this.#heap[deadline.index] !== deadline) return
    const last = this.#heap.pop()!
    if (last === deadline) return
    this.#place(last, deadline.index)
    this.#rise(last)
    this.#sink(last)
  }

  /** Stops: nothing expires any more. */
  close(): void {
    this.#heap.length = 0
    clearTimeout(this.#timer)
    this.#timerAt = Number.POSITIVE_INFINITY
  }

  #work = (): void => {
    this.#timerAt = Number.POSITIVE_INFINITY
    const at = now()
    for (let done = 0; done < EXPIRIES_PER_TICK; done++) {
      const first = this.#heap[0]
      if (first === undefined || first.at > at) break
      this.remove(first)
      this.#due(first.value)
    }
    this.#arm()
  }

  /**
   * Sets the timer only for an earlier deadline: most deadlines move later, and a new timer each time would cost more.
   */
  #arm(): void {
    const first = this.#heap[0]
    if (first === undefined || first.at >= this.#timerAt) return
    clearTimeout(this.#timer)
    this.#timerAt = first.at
    // Overdue entries wait for the next turn of the event loop, after the I/O of this one.
    const wait = Math.min(Math.max(0, first.at - now()), TIMER_MAX_MS)
    this.#timer = setTimeout(this.#work, wait).unref()
  }

  #rise(deadline: ExpiryEntry<T>): void {
    while (deadline.index > 0) {
      const parent = this.#heap[(deadline.index - 1) >> 1]!
      if (parent.at <= deadline.at) return
      this.#swap(deadline, parent)
    }
  }

  #sink(deadline: ExpiryEntry<T>): void {
    for (;;) {
      const left = this.#heap[2 * deadline.index + 1]
      const right = this.#heap[2 * deadline.index + 2]
      const child = right !== undefined && right.at < left!.at ? right : left
      if (child === undefined || child.at >= deadline.at) return
      this.#swap(child, deadline)
    }
  }

  #swap(one: ExpiryEntry<T>, other: ExpiryEntry<T>): void {
    const { index } = one
    this.#place(one, other.index)
    this.#place(other, index)
  }

  #place(deadline: ExpiryEntry<T>, index: number): void {
    deadline.index = index
    this.#heap[index] = deadline
  }
}
