// The active leases: one per identity, each published under its hostnames until it ends.

import { canonicalLabel, type Identity, identityKey, type LeaseMetadata } from '@svc/protocol'
import { RelayError } from '../errors.ts'
import { LEASES_MAX } from '../limits.ts'
import type { Routes } from '../routing/routes.ts'
import { Lease, type LeaseEnd } from './lease.ts'

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
}

export class LeaseRegistry {
  readonly #routes: Routes
  readonly #leases = new Map<string, { lease: Lease; expiry: NodeJS.Timeout }>()

  constructor(routes: Routes) {
    this.#routes = routes
  }

  /**
   * Publishes a new lease at once. One that the identity already has is replaced: its tokens die with it.
   * @throws RelayError `hostname_conflict` when another identity has the friendly hostname and no fallback is allowed
   */
  register(request: LeaseRequest, addresses: ClientAddresses): Lease {
    const { name, address } = request.identity
    const key = identityKey(name, address)
    const previous = this.#leases.get(key)?.lease
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
    })
    this.#leases.set(key, { lease, expiry: this.#expire(lease) })
    for (const hostname of lease.hostnames) this.#routes.publish(hostname, lease)
    return lease
  }

  renew(lease: Lease, ttlS: number, metadata: LeaseMetadata | undefined, addresses: ClientAddresses): void {
    const entry = this.#entry(lease)
    if (entry === undefined) throw new RelayError('lease_not_found', 'the lease has ended')
    clearTimeout(entry.expiry)
    lease.extend(ttlS)
    lease.clientIp = addresses.clientIp
    lease.reportedIp = addresses.reportedIp ?? lease.reportedIp
    if (metadata !== undefined) lease.metadata = metadata
    entry.expiry = this.#expire(lease)
  }

  /** The lease that `id` names, when it is the active instance of its identity. */
  find(identity: Identity, id: string): Lease | undefined {
    const lease = this.#leases.get(identityKey(identity.name, identity.address))?.lease
    return lease?.id === id ? lease : undefined
  }

  end(lease: Lease, reason: LeaseEnd): void {
    const entry = this.#entry(lease)
    if (entry === undefined) return
    clearTimeout(entry.expiry)
    this.#leases.delete(identityKey(lease.identity.name, lease.identity.address))
    for (const hostname of lease.hostnames) this.#routes.withdraw(hostname, lease)
    lease.end(reason)
  }

  *[Symbol.iterator](): Iterator<Lease> {
    for (const { lease } of this.#leases.values()) yield lease
  }

  #entry(lease: Lease): { lease: Lease; expiry: NodeJS.Timeout } | undefined {
    const entry = this.#leases.get(identityKey(lease.identity.name, lease.identity.address))
    return entry?.lease === lease ? entry : undefined
  }

  #friendlyHostname(request: LeaseRequest, previous: Lease | undefined): string {
    const hostname = this.#routes.hostname(request.identity.name)
    const owner = this.#routes.leaseOf(hostname)
    if (owner === undefined || owner === previous) return hostname
    if (request.allowCanonicalFallback) return ''
    throw new RelayError('hostname_conflict', `${hostname} belongs to another identity`)
  }

  #expire(lease: Lease): NodeJS.Timeout {
    return setTimeout(() => this.end(lease, 'expired'), lease.expiresAt - Date.now()).unref()
  }
}
