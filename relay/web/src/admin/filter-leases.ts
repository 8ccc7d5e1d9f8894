// Derives the status of a lease from the policy, and filters leases.
import type { PolicyLease } from '@svc/protocol'
import type { LEASES } from '../texts/admin.ts'

export type LeaseStatus = keyof typeof LEASES.status
export type LeaseFilter = keyof typeof LEASES.filters

/** Returns the strongest decision, which must be lifted first. */
export function statusOf(lease: PolicyLease): LeaseStatus {
  if (lease.is_banned) return 'banned'
  if (lease.is_ip_banned) return 'ipBanned'
  if (lease.is_denied) return 'denied'
  return lease.is_approved ? 'routed' : 'waiting'
}

const SHOWN: Record<LeaseFilter, (lease: PolicyLease) => boolean> = {
  all: () => true,
  waiting: (lease) => statusOf(lease) === 'waiting',
  blocked: (lease) => lease.is_banned || lease.is_ip_banned || lease.is_denied,
  limited: (lease) => lease.bps > 0,
  listed: (lease) => lease.metadata.hide !== true,
}

/** @returns the leases that match: those waiting for approval first, then the newest */
export function filterLeases(
  leases: readonly PolicyLease[],
  filter: LeaseFilter,
  search: string,
): PolicyLease[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  const shown = leases.filter((lease) => {
    if (!SHOWN[filter](lease)) return false
    const { identity_key, hostname, client_ip, reported_ip = '', metadata, custom_domains = [] } = lease
    const domains = custom_domains.map(({ domain }) => domain)
    const { description = '', owner = '', tags = [] } = metadata
    const text = [identity_key, hostname, client_ip, reported_ip, description, owner, ...domains, ...tags]
    return words.every((word) => text.join('\n').toLowerCase().includes(word))
  })
  return shown.sort((a, b) => rank(a) - rank(b) || (a.first_seen_at > b.first_seen_at ? -1 : 1))
}

function rank(lease: PolicyLease): number {
  return statusOf(lease) === 'waiting' ? 0 : 1
}
