// The limits and times of the zone and its signatures.

/** The most names with records. A lease has two hostnames, and each may have a name below it. */
export const ZONE_NAMES_MAX = 400_000
/** The largest record set of one name and type, in octets: an answer over TCP has up to 65,535, with other records. */
export const RECORD_SET_MAX_OCTETS = 16_384
/** The TTL of addresses and of negative answers, in seconds (RFC 2308 §5), after which a change is visible. */
export const ADDRESS_TTL_S = 60
/** The TTL of records that change only with the relay's host or key, in seconds: NS, DNSKEY, CDS, CAA, HTTPS. */
export const STEADY_TTL_S = 3600

/** The validity of a signature. */
export const SIGNATURE_VALID_MS: number = 24 * 60 * 60_000
/** The age at which the zone renews a signature on demand. */
export const SIGNATURE_RENEW_MS: number = 12 * 60 * 60_000
/** Signatures are valid from this long before their creation, for validators whose clocks are behind. */
export const CLOCK_SKEW_MS: number = 5 * 60_000
/**
 * Cached signatures of arbitrary names, about 500 bytes each: in each half of those used once, and of those
 * used again.
 */
export const SIGNATURES_KEPT = 8_192
/**
 * Signatures per minute for such names, for clients with a possibly spoofed address. One takes about 40 µs, so all of
 * them take 8 % of a core.
 */
export const SIGNATURES_PER_MINUTE = 120_000
/** The same for clients with a proven address, a separate budget that a spoofed flood cannot exhaust. */
export const PROVEN_SIGNATURES_PER_MINUTE = 120_000
/** The burst of each of these budgets. */
export const SIGNATURES_BURST = 2_000
/** Signatures per minute, of that second budget, for the clients of one network, a /24 or a /56: 50 per second. */
export const NETWORK_SIGNATURES_PER_MINUTE = 3_000
/** The same in a burst: a starting resolver queries many names. */
export const NETWORK_SIGNATURES_BURST = 500
