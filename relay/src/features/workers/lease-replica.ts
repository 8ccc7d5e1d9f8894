// Keeps a worker process's copy of the leases, as the primary process sends them.

import { type Identity, identityKey } from '@svc/protocol'
import { Lease, type LeaseDomains, type LeaseEnd } from '../../core/lease/lease.ts'
import type { Route } from '../../core/lease/route.ts'
import type { RoutingTable } from '../../core/routing/routing-table.ts'
import type { SharedLease } from './messages.ts'

export class LeaseReplica {
  readonly #routes: RoutingTable<Route>
  readonly #onLease: (lease: Lease) => void
  readonly #leases = new Map<string, Lease>()

  /** @param onLease called with each lease before the lease can be found */
  constructor(routes: RoutingTable<Route>, onLease: (lease: Lease) => void) {
    this.#routes = routes
    this.#onLease = onLease
  }

  /** Finds an active lease as the registry does. */
  find({ name, address }: Identity, id: string): Lease | undefined {
    const lease = this.#leases.get(id)
    return lease?.identityKey === identityKey(name, address) ? lease : undefined
  }

  byId(id: string): Lease | undefined {
    return this.#leases.get(id)
  }

  /** Adds a new lease, or updates a renewed one. */
  put(shared: SharedLease): void {
    const known = this.#leases.get(shared.id)
    if (known !== undefined) {
      known.clientIp = shared.clientIp
      known.reportedIp = shared.reportedIp
      this.#setDomains(known, shared.domains)
      return
    }
    // The primary process keeps times and metadata, and ends the lease.
    const lease = new Lease({ ...shared, metadata: {}, ttlS: 0, firstSeenAt: 0 })
    this.#onLease(lease)
    this.#leases.set(lease.id, lease)
    for (const hostname of lease.hostnames) this.#routes.publish(hostname, lease.route)
    this.#setDomains(lease, shared.domains)
  }

  /** The primary process has decided which lease has a domain. */
  #setDomains(lease: Lease, domains: LeaseDomains): void {
    for (const { domain } of lease.domains.proven) this.#routes.withdraw(domain, lease.route)
    for (const { domain } of domains.proven) this.#routes.publish(domain, lease.route)
    lease.setDomains(domains)
  }

  end(id: string, reason: LeaseEnd): void {
    const lease = this.#leases.get(id)
    if (lease === undefined) return
    this.#leases.delete(id)
    for (const hostname of lease.hostnames) this.#routes.withdraw(hostname, lease.route)
    for (const { domain } of lease.domains.proven) this.#routes.withdraw(domain, lease.route)
    lease.end(reason)
  }

  [Symbol.iterator](): Iterator<Lease> {
    return this.#leases.values()
  }
}
