// The interface between this machine's leases and the other machines of the same relay, which share all leases.

import type { Identity } from '@svc/protocol'
import type { Lease } from './lease.ts'
import type { LeasePorts } from './lease-ports.ts'
import type { LeaseAddresses, LeaseRequest } from './lease-request.ts'

/** What the machines of a relay have agreed on for a new lease. */
export interface LeaseGrant {
  id: string
  /** The fencing token: larger than that of every lease of the relay before. */
  sequence: number
  /** Friendly hostname; empty when another identity has it. */
  hostname: string
  /** Relay time. */
  expiresAt: number
  /** The machine that has the lease's dedicated ports. */
  machine: string
}

/** A lease that another machine registered, renewed or ended. */
export interface SharedLease extends LeaseGrant, LeaseAddresses {
  identity: Identity
  metadata: Lease['metadata']
  ports: LeasePorts | undefined
  portHost: string | undefined
  preferences: Lease['preferences']
  statement?: Lease['statement']
  domains?: Lease['domains'] | undefined
  /** Relay time, as that of {@link lastSeenAt}. */
  firstSeenAt: number
  lastSeenAt: number
}

export interface LeaseSharing {
  /** Name of this machine. */
  readonly machine: string
  /**
   * Registers a lease at all machines.
   * @param hostname friendly hostname that the lease would get here
   * @throws RelayError `hostname_conflict` when another identity has the name and no fallback is allowed,
   * `feature_unavailable` while the other machines cannot be asked
   */
  register(
    request: LeaseRequest,
    lease: { hostname: string; firstSeenAt: number; ports: LeasePorts | undefined } & LeaseAddresses,
  ): Promise<LeaseGrant>
  /**
   * Claims a custom domain for the lease's identity, at all machines.
   * @param provenAt relay time at which the look-up began that proved it: of two claims the later one counts
   * @returns false when another identity's claim is later
   * @throws RelayError `feature_unavailable` while the other machines cannot be asked
   */
  claimDomain(lease: Lease, domain: string, provenAt: number): Promise<boolean>
  /** Announces a renewal. @throws RelayError `lease_not_found` when the lease has ended at another machine */
  renewed(lease: Lease): Promise<void>
  /** Announces that a site has unregistered its lease. */
  ended(lease: Lease): Promise<void>
  /**
   * Resolves when the reachable machines know of a lease that was registered or has ended, or after a short timeout.
   */
  settled(lease: Lease): Promise<void>
}
