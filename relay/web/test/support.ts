// Leases and machines as the relay describes them.
import type { AdminMachine, LeaseMetadata, PolicyLease } from '@svc/protocol'

export function lease(name: string, fields: Partial<PolicyLease> = {}): PolicyLease {
  const address = `0x${'ab'.repeat(20)}`
  return {
    name,
    address,
    identity_key: `${name}:${address}`,
    hostname: `${name}.relay.example`,
    expires_at: '2026-01-01T00:02:00.000Z',
    first_seen_at: '2026-01-01T00:00:00.000Z',
    last_seen_at: '2026-01-01T00:00:00.000Z',
    udp_enabled: false,
    tcp_enabled: false,
    metadata: {},
    ready: 1,
    bps: 0,
    client_ip: '192.0.2.1',
    is_approved: true,
    is_banned: false,
    is_denied: false,
    is_ip_banned: false,
    ip_bans: [],
    ...fields,
  }
}

export function machine(address: string, fields: Partial<AdminMachine> = {}): AdminMachine {
  return {
    address,
    release_version: '1.2.3',
    state: 'online',
    is_this: false,
    started_at: '2026-01-01T00:00:00.000Z',
    seen_at: '2026-01-02T00:00:00.000Z',
    carriers: 1,
    ready_sessions: 2,
    visitor_connections: 0,
    visitor_received_bytes: 0,
    visitor_sent_bytes: 0,
    ...fields,
  }
}

export function saying(name: string, metadata: LeaseMetadata): PolicyLease {
  return lease(name, { metadata })
}
