// The active leases: one per identity, each published under its hostnames until it ends.

import { canonicalLabel, type Identity, identityKey, type LeaseMetadata } from '@svc/protocol'
import { RelayError } from '../errors.ts'
import { LEASES_MAX } from '../limits.ts'
import type { Routes } from '../routing/routes.ts'
import { type Deadline, Deadlines } from './deadlines.ts'
import type { Wanted } from './dedicated-ports.ts'
import { Lease, type LeaseEnd } from './lease.ts'
import type { Ports, Reservations } from './reservations.ts'

/** Addresses of a client, normalized: as the relay saw it, and as it said itself. */
export interface ClientAddresses {
  clientIp: string
  reportedIp: string | undefined
}

export interface LeaseRequest {
  identity: Identity
  allowCanonicalFallback: boolean
  metadata: LeaseMetadata
  ttlS: number
  /** Dedicated ports that are asked for. */
  wanted?: Wanted
}

export class LeaseRegistry {
  readonly #routes: Routes
  readonly #reservations: Reservations
  readonly #leases = new Map<string, Deadline<Lease>>()
  readonly #onChange = new Set<(lease: Lease) => void>()
  readonly #expiries = new Deadlines<Lease>((lease) => this.end(lease, 'expired'))

  /** @param reservations what each identity holds, also from before this process began */
  constructor(routes: Routes, reservations: Reservations) {
    this.#routes = routes
    this.#reservations = reservations
  }

  /** Called when a lease was registered or renewed, and when it has ended: with that, before anything is answered. */
  onChange(listener: (lease: Lease) => void): void {
    this.#onChange.add(listener)
  }

  get size(): number {
    return this.#leases.size
  }

  /** Reverse sessions of all leases that wait for a visitor. */
  get readySessions(): number {
    let ready = 0
    for (const lease of this) ready += lease.ready.size
    return ready
  }

  /**
   * Publishes a new lease at once. One that the identity already has is replaced: its tokens die with it.
   * @throws RelayError `hostname_conflict` when another identity has the friendly hostname and no fallback is allowed
   */
  register(request: LeaseRequest, addresses: ClientAddresses, ports?: Ports): Lease {
    const { name, address } = request.identity
    const key = identityKey(name, address)
    const previous = this.#leases.get(key)?.value
    const hostname = this.#friendlyHostname(request, previous)
    if (previous === undefined && this.#leases.size >= LEASES_MAX)
      throw new RelayError('feature_unavailable', 'this relay has no room for another lease')
    if (previous !== undefined) this.end(previous, 'replaced')
    const lease = new Lease({
      identity: request.identity,
      hostname,
      canonicalHostname: this.#routes.hostname(canonicalLabel(name, address)),
      metadata: request.metadata,
      ttlS: request.ttlS,
      firstSeenAt: previous?.firstSeenAt ?? Date.now(),
      ...addresses,
      ports,
    })
    this.#leases.set(key, this.#expiries.add(lease, lease.expiresAt))
    for (const hostname of lease.hostnames) this.#routes.publish(hostname, lease)
    this.#reserve(lease)
    this.#changed(lease)
    return lease
  }

  renew(lease: Lease, ttlS: number, metadata: LeaseMetadata | undefined, addresses: ClientAddresses): void {
    const entry = this.#entry(lease)
    if (entry === undefined) throw new RelayError('lease_not_found', 'the lease has ended')
    lease.extend(ttlS)
    this.#expiries.move(entry, lease.expiresAt)
    lease.clientIp = addresses.clientIp
    lease.reportedIp = addresses.reportedIp ?? lease.reportedIp
    if (metadata !== undefined) lease.metadata = metadata
    this.#reserve(lease)
    this.#changed(lease)
  }

  /** The lease that `id` names, when it is the active instance of its identity. */
  find(identity: Identity, id: string): Lease | undefined {
    const lease = this.#leases.get(identityKey(identity.name, identity.address))?.value
    return lease?.id === id ? lease : undefined
  }

  end(lease: Lease, reason: LeaseEnd): void {
    const entry = this.#entry(lease)
    if (entry === undefined) return
    this.#expiries.remove(entry)
    this.#leases.delete(keyOf(lease))
    for (const hostname of lease.hostnames) this.#routes.withdraw(hostname, lease)
    // A relay that shuts down keeps its word; whoever replaces a lease takes over what it held.
    if (reason === 'expired' || reason === 'unregistered') this.#reservations.release(keyOf(lease))
    lease.end(reason)
    this.#changed(lease)
  }

  *[Symbol.iterator](): Iterator<Lease> {
    for (const { value } of this.#leases.values()) yield value
  }

  #entry(lease: Lease): Deadline<Lease> | undefined {
    const entry = this.#leases.get(keyOf(lease))
    return entry?.value === lease ? entry : undefined
  }

  #friendlyHostname(request: LeaseRequest, previous: Lease | undefined): string {
    const { name, address } = request.identity
    const hostname = this.#routes.hostname(name)
    const owner = this.#routes.leaseOf(hostname)
    const holder = this.#reservations.holderOf(hostname)
    const isOurs = holder === undefined || holder === identityKey(name, address)
    if (isOurs && (owner === undefined || owner === previous)) return hostname
    if (request.allowCanonicalFallback) return ''
    throw new RelayError('hostname_conflict', `${hostname} belongs to another identity`)
  }

  #changed(lease: Lease): void {
    for (const listener of this.#onChange) listener(lease)
  }

  #reserve(lease: Lease): void {
    const { hostname, expiresAt, ports } = lease
    this.#reservations.hold(keyOf(lease), { hostname, expiresAt, ports })
  }
}

function keyOf({ identity }: Lease): string {
  return identityKey(identity.name, identity.address)
}
