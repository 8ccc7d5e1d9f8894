// Remembers failed relays, so that none is used again at once: the pause grows with each failure.

import { backoffMs, jittered } from '@svc/protocol/timers'
import type { SvcErrorCode } from '../errors.ts'
import { FAILED_PAUSE_FIRST_MS, FAILED_PAUSE_MAX_MS, FAILED_RELAYS_MAX, FORGIVEN_AFTER_MS } from './limits.ts'

interface Failed {
  code: SvcErrorCode
  failures: number
  /** The time of `performance.now()` at which it may be used again. */
  until: number
}

export class FailedRelays {
  /** By origin; the earliest failure comes first. */
  #failed = new Map<string, Failed>()

  /**
   * Excludes the relay for a time: 30 s at first, then twice as long each time, up to 30 min; the second half is random.
   * @param onlineMs the milliseconds for which the site was online there: after ten minutes, earlier failures do not count
   */
  add(origin: string, code: SvcErrorCode, onlineMs: number): void {
    const before = onlineMs >= FORGIVEN_AFTER_MS ? 0 : (this.#failed.get(origin)?.failures ?? 0)
    const until = performance.now() + jittered(backoffMs(before, FAILED_PAUSE_FIRST_MS, FAILED_PAUSE_MAX_MS))
    this.#set(origin, { code, failures: before + 1, until })
  }

  /** Excludes the relay for good. */
  ban(origin: string, code: SvcErrorCode): void {
    this.#set(origin, { code, failures: 1, until: Number.POSITIVE_INFINITY })
  }

  /** The time of `performance.now()` from which the relay may be used: 0 for one that has not failed. */
  until(origin: string): number {
    return this.#failed.get(origin)?.until ?? 0
  }

  /** Forgets relays that could not be reached, because this machine's own network was down. */
  forgiveUnreachable(): void {
    for (const [origin, { code }] of this.#failed)
      if (code === 'relay_unreachable') this.#failed.delete(origin)
  }

  #set(origin: string, failed: Failed): void {
    this.#failed.delete(origin)
    this.#failed.set(origin, failed)
    if (this.#failed.size <= FAILED_RELAYS_MAX) return
    // Banned relays are forgotten last.
    const origins = [...this.#failed.keys()]
    const paused = origins.find((each) => Number.isFinite(this.until(each)))
    this.#failed.delete(paused ?? origins[0]!)
  }
}
