// Describes a lease in JSON, as the public list shows it.

import type { Lease as LeaseJson } from '@svc/protocol'
import type { Lease } from '../../lease/lease.ts'
import { readyQueueOf } from '../../reverse/ready-queues.ts'
import { timestamp } from '../http/timestamp.ts'

export function leaseJson(lease: Lease): LeaseJson {
  const { proven } = lease.domains
  return {
    name: lease.identity.name,
    expires_at: timestamp(lease.expiresAt),
    first_seen_at: timestamp(lease.firstSeenAt),
    last_seen_at: timestamp(lease.lastSeenAt),
    hostname: lease.hostname || lease.canonicalHostname,
    udp_enabled: lease.has('udp'),
    tcp_enabled: lease.has('tcp'),
    tcp_addr: lease.addressOf('tcp'),
    domains: proven.length > 0 ? proven.map(({ domain }) => domain) : undefined,
    metadata: lease.metadata,
    ready: readyQueueOf(lease).size,
  }
}
