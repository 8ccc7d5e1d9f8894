// Defines the preferences of a registration, which a relay need not meet.

import type { RegisterChallengeRequest } from '@svc/protocol'

export interface LeasePreferences {
  /** The relay may store the site's files and end TLS for them. */
  readonly cache: boolean
  /** Seconds for which stored files are served without the site's tunnel; 0: the relay chooses. */
  readonly cacheTtlS: number
  /** The SDK prefers a gateway of the overlay to this relay's own endpoint. */
  readonly overlay: boolean
  /** The SDK takes the address of each visitor. */
  readonly visitorAddress: boolean
  /** The relay may end TLS at the friendly hostname, and show a page, while the site has no lease. */
  readonly awayPage: boolean
  /** The site's own domains, as it wrote them. */
  readonly domains: readonly string[]
}

/** The preferences of a registration that names none. */
export const NO_PREFERENCES: LeasePreferences = {
  cache: false,
  cacheTtlS: 0,
  overlay: false,
  visitorAddress: false,
  awayPage: false,
  domains: [],
}

/** @param request its `cache_ttl` is in the relay's bounds already */
export function preferencesOf({
  cache,
  cache_ttl,
  overlay,
  extensions,
  away_page,
  domains,
}: RegisterChallengeRequest): LeasePreferences {
  const { cacheTtlS } = NO_PREFERENCES
  return {
    cache: cache ?? false,
    cacheTtlS: cache_ttl ?? cacheTtlS,
    overlay: overlay ?? false,
    visitorAddress: extensions?.includes('visitor_address') ?? false,
    awayPage: away_page ?? false,
    domains: [...new Set(domains)],
  }
}
