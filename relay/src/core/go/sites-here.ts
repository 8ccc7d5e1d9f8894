// Finds the site that a visitor of `/go/` means among those of this relay.

import { canonicalLabel } from '@svc/protocol'
import type { Visitors } from '../bridge/visitors.ts'
import type { Lease } from '../lease/lease.ts'
import type { LeaseRegistry } from '../lease/lease-registry.ts'
import type { Route } from '../lease/route.ts'
import type { PolicyRules } from '../policy/policy-rules.ts'
import { readyQueueOf } from '../reverse/ready-queues.ts'
import type { RoutingTable } from '../routing/routing-table.ts'
import type { GoTarget } from './go-target.ts'

export interface SitesHereParts {
  routes: Pick<RoutingTable<Route>, 'hostname' | 'resolve'>
  leases: Pick<LeaseRegistry, 'at' | 'ownerOf'>
  policy: Pick<PolicyRules, 'routes' | 'routing'>
  visitors: Pick<Visitors, 'visitorsOf'>
  /** Returns whether visitors reach a lease through another relay, to which they must be led. */
  isReachedByRelay: (lease: Lease) => boolean
  /** Returns whether the relay is closing. */
  isClosing: () => boolean
}

export class SitesHere {
  readonly #parts: SitesHereParts

  constructor(parts: SitesHereParts) {
    this.#parts = parts
  }

  /** Returns whether visitors would reach the site here: a busy site counts, a silent one does not. */
  has(label: string): boolean {
    const { routes, policy, visitors, isClosing, isReachedByRelay } = this.#parts
    const route = isClosing() ? undefined : routes.resolve(routes.hostname(label))
    if (route?.to === 'feature') return route.isAwayPage !== true && route.isOpen()
    if (route?.to !== 'lease' || !policy.routes(route.lease) || isReachedByRelay(route.lease)) return false
    const ready = readyQueueOf(route.lease)
    return ready.size > 0 || (visitors.visitorsOf(route.lease) > 0 && !ready.isSilent)
  }

  /**
   * Returns the label at which visitors reach the site: the given one, or the canonical one of the friendly name's owner,
   * at which the relay may serve stored files while the site is away.
   */
  find({ label, isCanonical }: GoTarget): string | undefined {
    if (this.has(label)) return label
    const owner = isCanonical ? undefined : this.#parts.leases.ownerOf(label)
    const other = owner === undefined ? undefined : canonicalLabel(label, owner)
    return other !== undefined && this.has(other) ? other : undefined
  }

  /** Returns whether a site that asked to be listed waits for the operator's approval. Of a hidden one nothing is said. */
  isWaiting({ label }: GoTarget): boolean {
    const { routes, leases, policy } = this.#parts
    const lease = leases.at(routes.hostname(label))
    return lease !== undefined && lease.metadata.hide !== true && policy.routing(lease) === 'approval'
  }
}
