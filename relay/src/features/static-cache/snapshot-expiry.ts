// Computes until when a snapshot is served, in relay time (decision 0009): while its site is renewed, after that, and
// after a restart of the relay.

import { CACHE_RENEWAL_GRACE_MS } from '@svc/protocol'
import { fromWallTime, now } from '../../core/clock.ts'
import type { Lease } from '../../core/lease/lease.ts'

const MS_PER_S = 1000

type Renewed = Pick<Lease, 'expiresAt' | 'lastSeenAt' | 'preferences'>

export class SnapshotExpiry {
  readonly #ttlMaxMs: number

  /** @param ttlMaxS longest time without a site, in seconds; also that of sites that name none */
  constructor(ttlMaxS: number) {
    this.#ttlMaxMs = ttlMaxS * MS_PER_S
  }

  /** Returns the expiry during an active lease. Each renewal moves it. */
  whileRenewed(lease: Renewed): number {
    const end = Math.min(lease.expiresAt, lease.lastSeenAt + CACHE_RENEWAL_GRACE_MS)
    return end + this.#ttlMsOf(lease)
  }

  /** Returns the expiry after a lease has ended, which is never later. */
  afterLease(lease: Renewed): number {
    return Math.min(this.whileRenewed(lease), now() + this.#ttlMsOf(lease))
  }

  /**
   * Returns the expiry of a snapshot from before the relay started: at most what it can have been given, even if the
   * wall clock was set back meanwhile.
   * @param expiresAt by the wall clock
   */
  afterRestart(expiresAt: number): number {
    return Math.min(fromWallTime(expiresAt), now() + CACHE_RENEWAL_GRACE_MS + this.#ttlMaxMs)
  }

  #ttlMsOf({ preferences }: Renewed): number {
    const asked = preferences.cacheTtlS * MS_PER_S
    return asked === 0 ? this.#ttlMaxMs : Math.min(asked, this.#ttlMaxMs)
  }
}
