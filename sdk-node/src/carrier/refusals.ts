// The codes with which a relay refuses a native connection.

/** The relay no longer knows the capability or its lease: the SDK renews the lease or registers again. */
export const LEASE_UNKNOWN: ReadonlySet<string> = new Set(['unauthorized', 'lease_not_found'])
