// The public endpoints: is the relay up, and what does it publish.

import type { Lease as LeaseJson, PublicStateResponse } from '@svc/protocol'
import type { Lease } from '../lease/lease.ts'
import type { LeaseRegistry } from '../lease/registry.ts'

export class PublicApi {
  readonly #leases: LeaseRegistry

  constructor(leases: LeaseRegistry) {
    this.#leases = leases
  }

  health(): { status: 'ok' } {
    return { status: 'ok' }
  }

  state(): PublicStateResponse {
    const shown = [...this.#leases].filter((lease) => lease.metadata.hide !== true)
    return { leases: shown.map(leaseJson), landing_page_enabled: true }
  }
}

function leaseJson(lease: Lease): LeaseJson {
  return {
    name: lease.identity.name,
    expires_at: new Date(lease.expiresAt).toISOString(),
    first_seen_at: new Date(lease.firstSeenAt).toISOString(),
    last_seen_at: new Date(lease.lastSeenAt).toISOString(),
    hostname: lease.hostname || lease.canonicalHostname,
    udp_enabled: false,
    tcp_enabled: false,
    metadata: lease.metadata,
    ready: lease.ready.size,
  }
}
