// The public endpoints: is the relay up, and what does it publish.

import type { PublicStateResponse } from '@svc/protocol'
import { RelayError } from '../errors.ts'
import type { LeaseRegistry } from '../lease/registry.ts'
import type { Policy } from '../policy/policy.ts'
import { leaseJson } from './lease-json.ts'

export class PublicApi {
  readonly #leases: LeaseRegistry
  readonly #policy: Policy
  readonly #isClosing: () => boolean

  constructor(leases: LeaseRegistry, policy: Policy, isClosing: () => boolean) {
    this.#leases = leases
    this.#policy = policy
    this.#isClosing = isClosing
  }

  /**
   * Whether work may be sent here: a relay that does not listen yet, or any more, cannot even be asked.
   * @throws RelayError `feature_unavailable` to whoever is still connected to a relay that is closing
   */
  health(): { status: 'ok' } {
    if (this.#isClosing()) throw new RelayError('feature_unavailable', 'this relay is closing')
    return { status: 'ok' }
  }

  /** Leases that are hidden, or that the policy does not route, are left out. */
  state(): PublicStateResponse {
    const shown = [...this.#leases].filter(
      (lease) => lease.metadata.hide !== true && this.#policy.routes(lease),
    )
    return { leases: shown.map(leaseJson), landing_page_enabled: this.#policy.settings.landing_page_enabled }
  }
}
