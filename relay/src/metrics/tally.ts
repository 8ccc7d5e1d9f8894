// What the relay counts as it goes along: plain integers, read when somebody asks for metrics.

import type { ErrorCode } from '@svc/protocol'

/** One number for each combination of labels; both come from fixed sets, so that their product is the bound. */
export class Counts<Labels extends Record<string, string>> {
  readonly #counts = new Map<string, { labels: Labels; count: number }>()

  add(labels: Labels): void {
    const key = Object.values(labels).join(' ')
    const entry = this.#counts.get(key)
    if (entry === undefined) this.#counts.set(key, { labels, count: 1 })
    else entry.count += 1
  }

  [Symbol.iterator](): Iterator<{ labels: Labels; count: number }> {
    return this.#counts.values()
  }
}

export class Tally {
  /** Visitors for whom no session was ready, and those who got none in time. */
  claimsWaited = 0
  claimsFailed = 0
  activations = 0
  /** WebSockets and native sessions that are open. */
  carriers = 0
  /** That came for leases without a datagram tunnel. */
  datagramsDropped = 0
  /** Routes are those of the routing table. */
  readonly requests: Counts<{ route: string; status: string }> = new Counts()
  readonly refusals: Counts<{ code: ErrorCode }> = new Counts()
  readonly signatures: Counts<{ outcome: 'signed' | 'refused' | 'failed' }> = new Counts()
}
