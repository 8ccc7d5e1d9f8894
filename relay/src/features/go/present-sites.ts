// Holds the canonical labels of the sites at this relay by the hash with which another relay asks, and their statements.

import { hash } from 'node:crypto'
import { identityKey, type SiteStatement, siteQuestionText } from '@svc/protocol'
import type { SitesHere } from '../../core/go/sites-here.ts'
import type { Lease } from '../../core/lease/lease.ts'
import type { LeaseRegistry } from '../../core/lease/lease-registry.ts'
import type { Route } from '../../core/lease/route.ts'
import type { RoutingTable } from '../../core/routing/routing-table.ts'

export interface PresentSitesParts {
  here: Pick<SitesHere, 'has'>
  routes: RoutingTable<Route>
  leases: LeaseRegistry
  policy: { identityStatus(identityKey: string): { isBanned: boolean; isDenied: boolean } }
}

export class PresentSites {
  readonly #parts: PresentSitesParts
  /** Canonical labels of leases and of stored sites, including hidden ones: anyone who has the hash knows the label. */
  readonly #labels = new Map<string, string>()
  /** The last statement of each site that has made one. That of a stored site outlives its lease. */
  readonly #statements = new Map<string, SiteStatement>()

  constructor(parts: PresentSitesParts) {
    const { leases, routes } = parts
    this.#parts = parts
    for (const { canonicalHostname } of leases) this.#follow(canonicalHostname)
    for (const hostname of routes.coveredHostnames) this.#follow(hostname)
    leases.onChange((lease) => this.#follow(lease.canonicalHostname, lease))
    routes.onCover((hostname) => this.#follow(hostname))
  }

  /** Returns whether visitors would reach the site here. */
  has(label: string): boolean {
    return this.#parts.here.has(label)
  }

  /** Returns whether the operator banned or denied the site: then the relay leads nobody to it, wherever it is. @param label canonical */
  isBarred(label: string): boolean {
    const hyphen = label.lastIndexOf('-')
    const key = identityKey(label.slice(0, hyphen), `0x${label.slice(hyphen + 1)}`)
    const { isBanned, isDenied } = this.#parts.policy.identityStatus(key)
    return isBanned || isDenied
  }

  /** Returns the label whose hash this is; undefined if the site is not here. @param question 64 hex digits */
  labelOf(question: string): string | undefined {
    return this.#labels.get(question)
  }

  /** Returns the site's statement that it is here. The asking relay or page checks its time. @param label canonical */
  statementOf(label: string): SiteStatement | undefined {
    return this.#statements.get(label)
  }

  /** @param changed the lease that was registered or renewed, or has ended */
  #follow(hostname: string, changed?: Lease): void {
    const { routes } = this.#parts
    const label = hostname.slice(0, hostname.indexOf('.'))
    const question = hash('sha256', siteQuestionText(label))
    const isKnown = routes.isCovered(hostname) || routes.publishedAt(hostname) !== undefined
    if (isKnown) {
      this.#labels.set(question, label)
      if (changed?.statement) this.#statements.set(label, changed.statement)
    } else {
      this.#labels.delete(question)
      this.#statements.delete(label)
    }
  }
}
