// Detects a relay that stopped answering, even in hidden pages, where timers are throttled, and after sleep.

import { YamuxError } from '@svc/yamux'

/** The SDK pings a WebSocket after this much silence: the relay writes a keepalive at least every 15 s. */
export const SILENCE_MAX_MS = 12_000
/** Incoming bytes restart the watchdog's timer at most this often. */
export const WATCH_RENEW_MS = 2_000
/** A connection is dead when a ping is unanswered for this long: with the silence before it, 16 s after the last byte. */
export const PING_DEADLINE_MS = 4_000
/** When a timer fires later than this after its time, the machine slept. Timers of hidden pages are up to 1 s late. */
const SLEPT_MS = 3_000

/**
 * Watchdog reports a silent carrier as dead. A hidden page runs timers once a minute when a chain of five or more has set
 * them. So incoming bytes restart the chain of timers in their own event, and that chain has only two: for the
 * silence and the ping.
 */
export class Watchdog {
  #ping: () => Promise<number>
  #dead: (cause: unknown) => void
  #activeAt = 0
  #setAt = Number.NEGATIVE_INFINITY
  #timer: ReturnType<typeof setTimeout> | undefined
  #probing = false
  #stopped = false

  /**
   * @param ping rejects with a YamuxError `ping_timeout` after `PING_DEADLINE_MS`
   * @param dead called with the cause when the relay does not answer
   */
  constructor(ping: () => Promise<number>, dead: (cause: unknown) => void) {
    this.#ping = ping
    this.#dead = dead
    this.onActivity()
  }

  onActivity(): void {
    this.#activeAt = performance.now()
    if (this.#stopped || this.#activeAt - this.#setAt < WATCH_RENEW_MS) return
    this.#setAt = this.#activeAt
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.probe(), SILENCE_MAX_MS)
  }

  /** Checks at once whether the relay answers. Never rejects. */
  async probe(): Promise<void> {
    if (this.#probing || this.#stopped) return
    this.#probing = true
    while (!(await this.#answers()));
    this.#probing = false
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  /** @returns false when the ping proves nothing; true when the relay is alive, or was reported as dead */
  async #answers(): Promise<boolean> {
    const askedAt = performance.now()
    const askedAtWall = Date.now()
    try {
      await this.#ping()
    } catch (cause) {
      const isTimeout = cause instanceof YamuxError && cause.code === 'ping_timeout'
      const took = performance.now() - askedAt
      // `performance.now()` may stand still while the machine sleeps.
      const passed = Math.max(took, Date.now() - askedAtWall)
      // Any byte shows that the relay is alive: an answer may wait behind bulk data.
      if (this.#stopped || (isTimeout && this.#activeAt > askedAt)) return true
      // A ping that was already in flight had less than its time, and a ping across a sleep had none.
      if (isTimeout && (took < PING_DEADLINE_MS / 2 || passed > PING_DEADLINE_MS + SLEPT_MS)) return false
      this.#dead(cause)
    }
    return true
  }
}
