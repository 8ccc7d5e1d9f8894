// Tells a lease that was taken over from one that a relay forgot: a native session ends the same way in both cases.

import { CONTEST_LOSSES_MAX, CONTEST_WINDOW_MS } from '../limits.ts'

/**
 * Two processes with one identity and one name take the lease from each other without end. A relay's close code says so to a
 * browser's carrier. Here the older process, which is the first to lose, notices that it loses again and again while the relay
 * was always reachable, and leaves. A relay that restarts cannot be reached for a moment: that clears the count.
 */
export class LeaseContest {
  #losses: number[] = []

  /** The relay did not know the lease any more. @returns whether that happened too often */
  lost(): boolean {
    const now = performance.now()
    this.#losses = this.#losses.filter((at) => now - at < CONTEST_WINDOW_MS)
    this.#losses.push(now)
    return this.#losses.length >= CONTEST_LOSSES_MAX
  }

  /** The relay could not be reached. */
  missed(): void {
    this.#losses = []
  }
}
