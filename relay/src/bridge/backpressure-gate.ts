// Holds the source of one direction until it may send more: the destination took what it got, the rate allows it, and
// everybody else had a turn.

import type { Duplex } from 'node:stream'
import { TIMER_MAX_MS } from '../limits.ts'
import type { Bandwidth } from '../rate-limit/bandwidth.ts'

export interface Direction {
  from: Duplex
  to: Duplex
  bandwidth: Bandwidth
  /** What may pass within one turn of the event loop, but for what the source cannot hold back. */
  tickBytesMax: number
  /** Called at the end of each turn in which something passed. */
  onTickEnd?: () => void
}

/** Closed at first: {@link open} it when the source has a listener. */
export class BackpressureGate {
  readonly #direction: Direction
  readonly #endTick: () => void
  #isClosed = true
  #tickBytes = 0
  /** Until the rate allows more. */
  #delay: NodeJS.Timeout | undefined

  constructor(direction: Direction) {
    this.#direction = direction
    this.#endTick = () => {
      this.#tickBytes = 0
      direction.onTickEnd?.()
      this.open()
    }
    direction.from.on('close', () => clearTimeout(this.#delay))
    direction.to.on('drain', () => this.open())
  }

  /** Counts what the destination was given. @returns false when the source has to stop: it will be resumed */
  onWritten(bytes: number): boolean {
    if (this.#tickBytes === 0) setImmediate(this.#endTick)
    this.#tickBytes += bytes
    const waitMs = this.#direction.bandwidth.spend(bytes)
    if (waitMs > 0) this.#wait(waitMs)
    this.#isClosed = !this.#mayPass
    return !this.#isClosed
  }

  /** Resumes the source if that had to stop and may go on. */
  open(): void {
    if (!this.#isClosed || !this.#mayPass) return
    this.#isClosed = false
    this.#direction.from.resume()
  }

  get #mayPass(): boolean {
    const { to, tickBytesMax } = this.#direction
    // A write that the kernel took at once asks for 'drain' as well if it was large: nothing is left to wait for.
    const isBlocked = to.writableNeedDrain && to.writableLength > 0
    return !isBlocked && this.#delay === undefined && this.#tickBytes < tickBytesMax
  }

  /** A byte a second can ask for years, and a timer beyond its range would fire at once. */
  #wait(milliseconds: number): void {
    clearTimeout(this.#delay)
    const step = Math.min(milliseconds, TIMER_MAX_MS)
    this.#delay = setTimeout(() => {
      this.#delay = undefined
      if (milliseconds > step) this.#wait(milliseconds - step)
      else this.open()
    }, step)
  }
}
