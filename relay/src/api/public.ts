// The public endpoints: is the relay up, and what does it publish.

import type { PublicStateResponse } from '@svc/protocol'
import type { LeaseRegistry } from '../lease/registry.ts'
import type { Policy } from '../policy/policy.ts'
import { leaseJson } from './lease-json.ts'

export class PublicApi {
  readonly #leases: LeaseRegistry
  readonly #policy: Policy

  constructor(leases: LeaseRegistry, policy: Policy) {
    this.#leases = leases
    this.#policy = policy
  }

  health(): { status: 'ok' } {
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
