// The leases that a machine has seen end early, so that a machine which missed this does not make them active again.

import { LEASE_TTL_MAX_S } from '@svc/protocol'
import { now } from '../../../core/clock.ts'
import type { Lease } from '../../../core/lease/lease.ts'
import { LEASES_MAX } from '../../../core/lease/lease-registry.ts'

/** No machine expects a lease to last longer than this after its early end. */
const KEPT_MS = LEASE_TTL_MAX_S * 1000

interface EndedLease {
  lease: Lease
  /** Relay time. */
  endedAt: number
}

export class EndedLeases {
  /** By identity key: the last lease that ended, those that ended longest ago first. */
  readonly #ended = new Map<string, EndedLease>()

  /**
   * Remembers a lease that was unregistered or replaced. One that expired does not count: another machine may have
   * renewed it unnoticed.
   */
  add(lease: Lease): void {
    const { identityKey, sequence } = lease
    const known = this.#ended.get(identityKey)
    if (known !== undefined && known.lease.sequence > sequence) return
    this.#ended.delete(identityKey)
    this.#ended.set(identityKey, { lease, endedAt: now() })
    for (const [key, { endedAt }] of this.#ended) {
      if (endedAt + KEPT_MS > now() && this.#ended.size <= LEASES_MAX) return
      this.#ended.delete(key)
    }
  }

  /** Whether the identity's lease with that fencing token is known to be over. */
  has(key: string, sequence: number): boolean {
    const known = this.#ended.get(key)
    return known !== undefined && known.lease.sequence >= sequence
  }

  /** Whether the identity's lease with that id is known to be over. */
  hasId(key: string, id: string): boolean {
    return this.#ended.get(key)?.lease.id === id
  }

  /** The leases that another machine may still consider active. */
  *[Symbol.iterator](): Iterator<EndedLease> {
    for (const ended of this.#ended.values()) if (ended.endedAt + KEPT_MS > now()) yield ended
  }
}
