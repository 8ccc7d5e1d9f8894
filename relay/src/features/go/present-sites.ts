// Holds the sites that visitors reach at this relay now, by canonical label, and by the hash with which another relay
// asks.

import { hash } from 'node:crypto'
import { identityKey, type SiteStatement, siteQuestionText } from '@svc/protocol'
import type { Lease } from '../../core/lease/lease.ts'
import type { LeaseRegistry } from '../../core/lease/lease-registry.ts'
import type { Route } from '../../core/lease/route.ts'
import { readyQueueOf } from '../../core/reverse/ready-queues.ts'
import type { RoutingTable } from '../../core/routing/routing-table.ts'

export interface PresentSitesParts {
  routes: RoutingTable<Route>
  leases: LeaseRegistry
  policy: {
    routes(lease: Lease): boolean
    identityStatus(identityKey: string): { isBanned: boolean; isDenied: boolean }
  }
  visitors: { visitorsOf(lease: Lease): number }
  /** Returns whether visitors reach a lease through another relay, to which they must be led. */
  isReachedByRelay: (lease: Lease) => boolean
  /** Returns whether the relay is closing. */
  isClosing: () => boolean
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

  /** Returns whether visitors would reach the site here: a busy site counts, a silent one does not. */
  has(label: string): boolean {
    const { routes, policy, visitors, isClosing, isReachedByRelay } = this.#parts
    const route = isClosing() ? undefined : routes.resolve(routes.hostname(label))
    if (route?.to === 'feature') return route.isOpen()
    if (route?.to !== 'lease' || !policy.routes(route.lease) || isReachedByRelay(route.lease)) return false
    const ready = readyQueueOf(route.lease)
    return ready.size > 0 || (visitors.visitorsOf(route.lease) > 0 && !ready.isSilent)
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
