// Handles the public endpoints: the relay's health and its list of sites.

import type { HealthResponse, Lease as LeaseJson, PublicStateResponse } from '@svc/protocol'
import { RelayError } from '../../errors.ts'
import type { LeaseRegistry } from '../../lease/lease-registry.ts'
import type { Policy } from '../../policy/policy.ts'
import { fillPage, sequenceOf } from '../http/pagination.ts'
import { leaseJson } from './lease-json.ts'

export class PublicApi {
  readonly #leases: LeaseRegistry
  readonly #policy: Policy
  readonly #problems: () => readonly string[]
  readonly #isClosing: () => boolean

  /** @param problems returns a sentence for each current failure */
  constructor(
    leases: LeaseRegistry,
    policy: Policy,
    problems: () => readonly string[],
    isClosing: () => boolean,
  ) {
    this.#leases = leases
    this.#policy = policy
    this.#problems = problems
    this.#isClosing = isClosing
  }

  /**
   * Whether load balancers may send work to the relay. A relay that cannot write is `degraded` and still serves its
   * sites, so that removing it would do more harm.
   * @throws RelayError `feature_unavailable` while the relay is closing
   */
  health(): HealthResponse {
    if (this.#isClosing()) throw new RelayError('feature_unavailable', 'this relay is closing')
    const problems = this.#problems()
    return problems.length === 0 ? { status: 'ok' } : { status: 'degraded', message: problems.join('; ') }
  }

  /**
   * Lists leases that are not hidden and that the policy routes.
   * @param after cursor of the previous page's last lease
   */
  state(after: string): PublicStateResponse {
    const { items, next } = fillPage(this.#shownAfter(sequenceOf(after)))
    return { leases: items, landing_page_enabled: this.#policy.settings.landing_page_enabled, next }
  }

  *#shownAfter(sequence: number): Generator<[string, LeaseJson]> {
    for (const lease of this.#leases.after(sequence))
      if (lease.metadata.hide !== true && this.#policy.routes(lease))
        yield [`${lease.sequence}`, leaseJson(lease)]
  }
}
