// What the list of sites knows about one, to be shown until the relay has told all about it.
import type { PolicyDecisionsResponse, PolicyLease, PolicyLeaseResponse } from '@svc/protocol'

/** @returns undefined when the site has neither a lease nor a decision */
export function knownSite(
  identity_key: string,
  leases: readonly PolicyLease[],
  decisions: PolicyDecisionsResponse,
): PolicyLeaseResponse | undefined {
  const lease = leases.find((one) => one.identity_key === identity_key)
  const has = (list: readonly string[]): boolean => list.includes(identity_key)
  const bps = decisions.bps[identity_key] ?? 0
  const decided = {
    is_approved: lease?.is_approved ?? has(decisions.approved),
    is_denied: has(decisions.denied),
    is_banned: has(decisions.banned),
  }
  if (lease === undefined && bps === 0 && !Object.values(decided).includes(true)) return undefined
  return {
    identity_key,
    lease,
    ...decided,
    bps,
    ban: decisions.ban_details?.banned[identity_key],
    traffic: lease?.traffic,
    hours: [],
    events: [],
  }
}
