// A lease that is about to be registered: its ports are open and its name is reserved, and no other identity gets them.

import { RelayError } from '../errors.ts'
import type { Lease } from './lease.ts'
import type { LeasePorts, RequestedPorts, Transport } from './lease-ports.ts'
import type { LeaseAddresses } from './lease-request.ts'
import type { LeaseGrant } from './lease-sharing.ts'
import type { PreparedReservation } from './reservations.ts'

/** Dedicated ports that are open for a lease to come. */
export interface ClaimedPorts {
  /** Undefined when the lease asked for none. */
  ports: LeasePorts | undefined
  /** Serves the lease at its ports until it ends. */
  serve(lease: Lease): void
  /** Releases the ports when no lease came about. */
  release(): void
}

export const NO_PORTS: ClaimedPorts = { ports: undefined, serve: () => {}, release: () => {} }

/** Gives leases dedicated ports. */
export interface PortClaims {
  /** @throws RelayError when the identity would not get a requested port, as far as the relay knows before it tries */
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
  /** When the identity's present lease was first seen; now, when it has none. Relay time. */
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
   * Publishes the lease at once, at its ports, too. One that the identity already has is replaced: its tokens die with it.
   * @param grant what other machines have agreed on; undefined where the relay is one machine
   * @throws RelayError when there is no room any more, or the identity has registered elsewhere meanwhile: then abort
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
