// Pauses one direction of a bridge until the destination has room, the bandwidth allows more, and other bridges had
// their turn.

import type { Duplex } from 'node:stream'
import { TIMER_MAX_MS } from '@svc/protocol/timers'
import type { Bandwidth } from '../rate-limit/bandwidth.ts'

export interface Direction {
  from: Duplex
  to: Duplex
  bandwidth: Bandwidth
  /** Bytes that may pass in one turn of the event loop, except those that TLS has decrypted already. */
  tickBytesMax: number
  /** Called at the end of each turn of the event loop in which bytes passed. */
  onTickEnd?: () => void
}

/** Closed at first. Call {@link open} when the source has a listener. */
export class BackpressureGate {
  readonly #direction: Direction
  readonly #endTick: () => void
  #isClosed = true
  #tickBytes = 0
  /** Runs until the bandwidth allows more. */
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

  /** Counts bytes written to the destination. @returns false when the source must stop; the gate resumes it later */
  onWritten(bytes: number): boolean {
    if (this.#tickBytes === 0) setImmediate(this.#endTick)
    this.#tickBytes += bytes
    const waitMs = this.#direction.bandwidth.spend(bytes)
    if (waitMs > 0) this.#wait(waitMs)
    this.#isClosed = !this.#mayPass
    return !this.#isClosed
  }

  /** Resumes the source if it had to stop and may go on. */
  open(): void {
    if (!this.#isClosed || !this.#mayPass) return
    this.#isClosed = false
    this.#direction.from.resume()
  }

  get #mayPass(): boolean {
    const { to, tickBytesMax } = this.#direction
    // A large write asks for 'drain' even when the kernel took it at once, and then no 'drain' may follow.
    const isBlocked = to.writableNeedDrain && to.writableLength > 0
    return !isBlocked && this.#delay === undefined && this.#tickBytes < tickBytesMax
  }

  /** Waits in steps, since a byte a second can mean years, and a timer beyond its range would fire at once. */
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
