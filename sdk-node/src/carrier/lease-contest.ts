// Distinguishes a lease that was taken over from one that a relay forgot: a native session ends alike in both cases.

/** How many leases a site may lose within `CONTEST_WINDOW_MS` while the relay stays reachable. */
export const CONTEST_LOSSES_MAX = 3
/** The time in which `CONTEST_LOSSES_MAX` losses show that another process has the same name and identity, in milliseconds. */
const CONTEST_WINDOW_MS = 5 * 60_000

/**
 * Two processes with the same identity and name would take the lease from each other forever. A relay's close code says so to a
 * browser's carrier. Here the older process, which is the first to lose, notices that it loses repeatedly while the relay
 * was always reachable, and leaves. A restarting relay is briefly unreachable, which resets the count.
 */
export class LeaseContest {
  #losses: number[] = []

  /** Notes that the relay no longer knew the lease. @returns whether that happened too often */
  lost(): boolean {
    const now = performance.now()
    this.#losses = this.#losses.filter((at) => now - at < CONTEST_WINDOW_MS)
    this.#losses.push(now)
    return this.#losses.length >= CONTEST_LOSSES_MAX
  }

  /** Notes that the relay could not be reached. */
  missed(): void {
    this.#losses = []
  }
}
