// A lease that is about to be registered. Its ports are open and its name is reserved, so that no other identity gets
// them.

import { RelayError } from '../errors.ts'
import type { Lease } from './lease.ts'
import type { LeasePorts, RequestedPorts, Transport } from './lease-ports.ts'
import type { LeaseAddresses } from './lease-request.ts'
import type { LeaseGrant } from './lease-sharing.ts'
import type { PreparedReservation } from './reservations.ts'

/** Dedicated ports that are open for a future lease. */
export interface ClaimedPorts {
  /** Undefined when the lease requested none. */
  ports: LeasePorts | undefined
  /** Serves the lease at its ports until it ends. */
  serve(lease: Lease): void
  /** Releases the ports if the lease is not made. */
  release(): void
}

export const NO_PORTS: ClaimedPorts = { ports: undefined, serve: () => {}, release: () => {} }

/** Gives leases dedicated ports. */
export interface PortClaims {
  /** @throws RelayError when the relay knows without trying that the identity would not get a requested port */
  require(identityKey: string, requested: RequestedPorts): void
  /** Claims all requested ports, or none. @throws RelayError as {@link require} does, or when no port is free */
  claim(identityKey: string, requested: RequestedPorts): Promise<ClaimedPorts>
}

export function portDisabled(transport: Transport): RelayError {
  const code = transport === 'tcp' ? 'tcp_port_disabled' : 'udp_disabled'
  return new RelayError(code, 'dedicated ports of this kind are not enabled here')
}

/** A relay without dedicated ports. */
export const NO_PORT_CLAIMS: PortClaims = {
  require: (_identityKey, requested) => {
    for (const transport of ['tcp', 'udp'] as const) if (requested[transport]) throw portDisabled(transport)
  },
  claim: async (identityKey, requested) => {
    NO_PORT_CLAIMS.require(identityKey, requested)
    return NO_PORTS
  },
}

interface LeaseDraftParts {
  reservation: PreparedReservation
  claimed: ClaimedPorts
  firstSeenAt: number
  addresses: LeaseAddresses
  /** Makes the lease and publishes it. */
  publish: (grant: LeaseGrant | undefined) => Lease
}

/** Ends with {@link commit} or, also when that throws, with {@link abort}. */
export class LeaseDraft implements LeaseAddresses {
  /** Friendly hostname; empty when another identity has it. */
  readonly hostname: string
  /** When the identity's current lease was first seen; now if it has none. Relay time. */
  readonly firstSeenAt: number
  readonly ports: LeasePorts | undefined
  readonly clientIp: string
  readonly reportedIp: string | undefined
  readonly #parts: LeaseDraftParts

  constructor(parts: LeaseDraftParts) {
    const { reservation, claimed, firstSeenAt, addresses } = parts
    this.hostname = reservation.hostname
    this.firstSeenAt = firstSeenAt
    this.ports = claimed.ports
    this.clientIp = addresses.clientIp
    this.reportedIp = addresses.reportedIp
    this.#parts = parts
  }

  /**
   * Publishes the lease at once, also at its ports. It replaces the identity's previous lease, whose tokens become
   * invalid.
   * @param grant what the machines of a cluster have agreed on; undefined on a single machine
   * @throws RelayError when there is no room left, or the identity has since registered elsewhere; the caller must then
   *   abort
   */
  commit(grant?: LeaseGrant): Lease {
    const lease = this.#parts.publish(grant)
    this.#parts.claimed.serve(lease)
    return lease
  }

  /** Releases name and ports. */
  abort(): void {
    this.#parts.reservation.drop()
    this.#parts.claimed.release()
  }
}
