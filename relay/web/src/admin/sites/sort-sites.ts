// Filters and sorts the table of sites.
import type { PolicyLease } from '@svc/protocol'
import type { SITES } from '../../texts/admin.ts'
import { stateOf } from './site-state.ts'

export type SiteFilter = keyof typeof SITES.filters
export type Column = keyof typeof SITES.columns

export interface Order {
  column: Column
  isDescending: boolean
}

const SHOWN: Record<SiteFilter, (lease: PolicyLease) => boolean> = {
  all: () => true,
  online: (lease) => stateOf(lease) === 'online',
  waiting: (lease) => stateOf(lease) === 'waiting',
  blocked: (lease) => lease.is_banned || lease.is_ip_banned || lease.is_denied,
  limited: (lease) => lease.bps > 0,
  listed: (lease) => lease.metadata.hide !== true,
}

export function filterSites(
  leases: readonly PolicyLease[],
  filter: SiteFilter,
  search: string,
): PolicyLease[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  return leases.filter((lease) => {
    if (!SHOWN[filter](lease)) return false
    if (words.length === 0) return true
    const { identity_key, hostname, client_ip, reported_ip = '', metadata, custom_domains = [] } = lease
    const domains = custom_domains.map(({ domain }) => domain)
    const { description = '', owner = '', tags = [] } = metadata
    const text = [identity_key, hostname, client_ip, reported_ip, description, owner, ...domains, ...tags]
      .join('\n')
      .toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

const VALUES: Readonly<Record<Column, (lease: PolicyLease) => string | number>> = {
  name: ({ hostname }) => hostname,
  state: (lease) => stateOf(lease),
  owner: ({ address }) => address,
  client: ({ client_ip }) => client_ip,
  visitors: ({ traffic }) => traffic?.open_connections ?? 0,
  rate: ({ traffic }) => (traffic === undefined ? 0 : traffic.received_bps + traffic.sent_bps),
  dayVisitors: ({ traffic }) => traffic?.day.visitors ?? 0,
  dayBytes: ({ traffic }) =>
    traffic === undefined ? 0 : traffic.day.received_bytes + traffic.day.sent_bytes,
  // A later start is a shorter time.
  since: ({ first_seen_at }) => first_seen_at,
}

/** Columns whose largest value is of interest first. */
const LARGEST_FIRST: ReadonlySet<Column> = new Set(['visitors', 'rate', 'dayVisitors', 'dayBytes', 'since'])

/** @returns a new list; equal ones are in the order of their hostnames, so that nothing moves between two loads */
export function sortSites(leases: readonly PolicyLease[], { column, isDescending }: Order): PolicyLease[] {
  const value = VALUES[column]
  const direction = isDescending ? -1 : 1
  return leases
    .map((lease) => ({ lease, key: value(lease) }))
    .sort((a, b) => {
      if (a.key !== b.key) return a.key < b.key ? -direction : direction
      return a.lease.hostname < b.lease.hostname ? -1 : 1
    })
    .map(({ lease }) => lease)
}

/** The order after a press on the header of a column. */
export function nextOrder(order: Order, column: Column): Order {
  if (order.column === column) return { column, isDescending: !order.isDescending }
  return { column, isDescending: LARGEST_FIRST.has(column) }
}
