// Makes the signed statement that visitors reach a site at one relay. It is loaded only for relays that accept such statements.

import {
  canonicalLabel,
  normalizeAddress,
  SITE_STATEMENT_MAX_MS,
  SITE_STATEMENT_TOLERANCE_MS,
  type SiteStatement,
  siteStatementText,
} from '@svc/protocol'
import type { LeaseRequest, Registration } from './lease.ts'
import type { RelayClient } from './relay-client.ts'

/**
 * Signs a new statement for the relay at `origin`. The relay influences nothing in it: the time is this machine's, since a relay could
 * name a future one. A relay that stores the site's files may answer in its place, for as long as it keeps them.
 */
export function stateSite(
  { origin }: Pick<RelayClient, 'origin'>,
  { name, identity, ttlS, cache }: LeaseRequest,
  { cacheLimits }: Pick<Registration, 'cacheLimits'>,
): SiteStatement {
  const label = canonicalLabel(name, normalizeAddress(identity.address)!)
  const leaseMs = ttlS * 1000 + SITE_STATEMENT_TOLERANCE_MS
  // If the site names no time, the relay chooses one.
  const storedMs = cache && cacheLimits ? cache.ttlS * 1000 || SITE_STATEMENT_MAX_MS : 0
  const lifeMs = Math.min(Math.max(leaseMs, storedMs), SITE_STATEMENT_MAX_MS)
  const issuedAt = Date.now()
  const times = {
    issued_at: new Date(issuedAt).toISOString(),
    expires_at: new Date(issuedAt + lifeMs).toISOString(),
  }
  return { ...times, signature: identity.personalSign(siteStatementText(label, origin, times)) }
}
