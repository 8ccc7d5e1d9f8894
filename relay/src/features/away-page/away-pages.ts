// Which sites have an away page: those that asked for it and whose lease has ended, for as long as their names wait for them.

import type { ServerCertificates } from '../../core/certificates/server-certificate.ts'
import { KeptNames } from '../../core/lease/kept-names.ts'
import type { Lease } from '../../core/lease/lease.ts'
import type { AwayLease, LeaseRegistry } from '../../core/lease/lease-registry.ts'
import type { FeatureRoute, Route } from '../../core/lease/route.ts'
import type { PolicyRules } from '../../core/policy/policy-rules.ts'
import type { RoutingTable } from '../../core/routing/routing-table.ts'
import type { AwayServer } from './away-server.ts'
import { AWAY_PAGES_MAX, AWAY_PAGES_PER_ACCOUNT_MAX, AWAY_PAGES_PER_NETWORK_MAX } from './limits.ts'

export interface AwayPagesParts {
  leases: Pick<LeaseRegistry, 'onChange' | 'onAway' | 'isAwaited' | 'away'>
  routes: Pick<RoutingTable<Route>, 'cover' | 'uncover'>
  policy: Pick<PolicyRules, 'routes' | 'mayRoute'>
  certificates: Pick<ServerCertificates, 'isAvailable'>
  server: Pick<AwayServer, 'serve'>
  isClosing: () => boolean
}

interface AwayPage {
  hostname: string
  route: FeatureRoute
}

export class AwayPages {
  readonly #parts: AwayPagesParts
  /** By identity key. */
  readonly #pages = new Map<string, AwayPage>()
  /** Identity keys by hostname. */
  readonly #owners = new Map<string, string>()
  readonly #kept = new KeptNames({
    perAccount: AWAY_PAGES_PER_ACCOUNT_MAX,
    perNetwork: AWAY_PAGES_PER_NETWORK_MAX,
    total: AWAY_PAGES_MAX,
  })

  constructor(parts: AwayPagesParts) {
    this.#parts = parts
  }

  /** Has the pages of sites that were away before this process started, and follows the leases from now on. */
  start(): void {
    const { leases } = this.#parts
    leases.onChange((lease) => this.#follow(lease))
    leases.onAway((lease, isAsked) => {
      this.#remove(lease.identityKey)
      if (isAsked) this.#addEnded(lease)
    })
    for (const lease of leases.away()) this.#addEnded(lease)
  }

  #addEnded(lease: AwayLease): void {
    const { leases, policy } = this.#parts
    if (leases.isAwaited(lease)) this.#add(lease, () => policy.mayRoute(lease))
  }

  /** @param lease one that was registered or renewed, or has ended */
  #follow(lease: Lease): void {
    const { ended, hostname, identityKey } = lease
    this.#remove(identityKey)
    // Another identity may have the name of a site that is away.
    const owner = this.#owners.get(hostname)
    if (owner !== undefined && !ended.aborted) this.#remove(owner)
    const isGone = ended.reason === 'expired' || ended.reason === 'unregistered'
    const { leases, policy } = this.#parts
    if (isGone && lease.preferences.awayPage && leases.isAwaited(lease))
      this.#add(lease, () => policy.routes(lease))
  }

  /** @param mayHaveVisitors by the policy of that moment */
  #add(lease: AwayLease, mayHaveVisitors: () => boolean): void {
    const { hostname, identityKey, registeredFrom } = lease
    const { routes, server } = this.#parts
    const route: FeatureRoute = {
      to: 'feature',
      isAwayPage: true,
      isOpen: () => this.#isOpen(lease, mayHaveVisitors),
      serve: (...visitor) => server.serve(...visitor),
    }
    this.#pages.set(identityKey, { hostname, route })
    this.#owners.set(hostname, identityKey)
    routes.cover(hostname, route)
    for (const other of this.#kept.add(identityKey, registeredFrom)) this.#remove(other)
  }

  #isOpen(lease: AwayLease, mayHaveVisitors: () => boolean): boolean {
    const { leases, certificates, isClosing } = this.#parts
    if (isClosing() || !certificates.isAvailable || !mayHaveVisitors()) return false
    if (leases.isAwaited(lease)) return true
    this.#remove(lease.identityKey)
    return false
  }

  #remove(identityKey: string): void {
    const page = this.#pages.get(identityKey)
    if (page === undefined) return
    this.#pages.delete(identityKey)
    this.#kept.remove(identityKey)
    if (this.#owners.get(page.hostname) === identityKey) this.#owners.delete(page.hostname)
    this.#parts.routes.uncover(page.hostname, page.route)
  }
}
