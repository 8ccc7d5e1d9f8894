// The public endpoints: is the relay up, and what does it publish.

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

  /** @param problems what the relay cannot do now, a sentence each */
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
   * Whether work may be sent here: a relay that does not listen yet, or any more, cannot even be asked. One that cannot
   * write still serves all who are here, so a load balancer that took it away would do more harm.
   * @throws RelayError `feature_unavailable` to whoever is still connected to a relay that is closing
   */
  health(): HealthResponse {
    if (this.#isClosing()) throw new RelayError('feature_unavailable', 'this relay is closing')
    const problems = this.#problems()
    return problems.length === 0 ? { status: 'ok' } : { status: 'degraded', message: problems.join('; ') }
  }

  /**
   * Leases that are hidden, or that the policy does not route, are left out.
   * @param after cursor of the last lease before
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
