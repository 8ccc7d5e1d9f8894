// Exponential backoff with a limit, and with jitter so that sites do not all come back at once.

import { jittered, pause } from '@svc/protocol/timers'

/** The first pause before the SDK connects again. */
export const BACKOFF_FIRST_MS = 250
/**
 * Each failure multiplies the next pause by this: the SDK finds a restarted relay within half of its
 * downtime.
 */
const BACKOFF_FACTOR = 1.5
/** The longest pause before the SDK connects again. */
export const BACKOFF_MAX_MS = 30_000
/**
 * The pause after the loss of a carrier is longer by a random part of this: sites that lost one machine together reach
 * the next one after another, and each has time for more attempts within three seconds.
 */
export const LOSS_SPREAD_MS = 750

/**
 * Backoff computes the pauses between attempts to connect. Each is longer than the one before, up to 30 s, and its second
 * half is random.
 */
export class Backoff {
  #failures = 0
  #wake: (() => void) | undefined

  /** Returns the next pause in milliseconds: between half of the step and all of it. */
  next(): number {
    const step = Math.min(BACKOFF_FIRST_MS * BACKOFF_FACTOR ** this.#failures, BACKOFF_MAX_MS)
    this.#failures += 1
    return jittered(step)
  }

  /** Returns the next pause in milliseconds after a loss that others may share: longer, and more random. */
  afterLoss(): number {
    return this.next() + Math.random() * LOSS_SPREAD_MS
  }

  reset(): void {
    this.#failures = 0
  }

  /** Ends the current pause, because the network is back or the page is visible again. */
  wake(): void {
    this.#wake?.()
  }

  /**
   * Resolves after `ms`, or when `signal` aborts. {@link wake} also ends the pause, unless the relay asked for it
   * (`Retry-After`).
   * @param ms milliseconds
   * @param isAsked whether the relay asked for this pause
   */
  pause(ms: number, signal: AbortSignal, isAsked = false): Promise<void> {
    if (isAsked) return pause(ms, signal)
    const woken = new AbortController()
    this.#wake = () => woken.abort()
    return pause(ms, AbortSignal.any([signal, woken.signal]))
  }
}
