// Derives the state of a site from its lease and the decisions about it.
import type { PolicyLease } from '@svc/protocol'
import type { SITE_STATES } from '../../texts/admin.ts'

export type SiteState = keyof typeof SITE_STATES

/** Returns the strongest decision, which must be lifted first; without one, whether sessions wait for visitors. */
export function stateOf(lease: PolicyLease): SiteState {
  if (lease.is_banned) return 'banned'
  if (lease.is_ip_banned) return 'ipBanned'
  if (lease.is_denied) return 'denied'
  if (!lease.is_approved) return 'waiting'
  return lease.ready > 0 ? 'online' : 'busy'
}

export function isWaiting(lease: PolicyLease): boolean {
  return stateOf(lease) === 'waiting'
}

const COLORS: Readonly<Record<SiteState, string>> = {
  banned: 'wrong',
  ipBanned: 'wrong',
  denied: 'wrong',
  waiting: 'waiting',
  online: 'online',
  busy: '',
}

/** Color of the state, as `data-state`. */
export function stateColor(state: SiteState): string {
  return COLORS[state]
}

/** A site has the port of its relay. */
export function siteUrl(hostname: string): string {
  return `https://${hostname}${location.port === '' ? '' : `:${location.port}`}/`
}
