// Holds the limits and times of the zone and its signatures.

/** Names with records. A lease has two hostnames, and each of them may have a name below it. */
export const ZONE_NAMES_MAX = 400_000
/** Octets of the records of one name and type: answers over TCP have 65,535, with other records. */
export const RECORD_SET_MAX_OCTETS = 16_384
/** Seconds for which resolvers keep addresses, and that a record is not there (RFC 2308 §5). A change shows after them. */
export const ADDRESS_TTL_S = 60
/** Seconds for which resolvers keep what changes when the relay's host or key does: NS, DNSKEY, CDS, CAA, HTTPS. */
export const STEADY_TTL_S = 3600

/** Time for which a signature is valid after it was made. */
export const SIGNATURE_VALID_MS: number = 24 * 60 * 60_000
/** Age from which the zone makes a signature anew when it is asked for. */
export const SIGNATURE_RENEW_MS: number = 12 * 60 * 60_000
/** Signatures are valid so long before they are made, for validators whose clocks are behind. */
export const CLOCK_SKEW_MS: number = 5 * 60_000
/**
 * Signatures of names that anybody can make up, some 500 bytes each: in each half of those that were used once, and of those
 * that were used again.
 */
export const SIGNATURES_KEPT = 8_192
/**
 * Signatures in a minute for such names, for clients that may have forged their address. One takes some 40 µs, so that all of
 * them take 8 % of a core.
 */
export const SIGNATURES_PER_MINUTE = 120_000
/** The same for clients whose address is proven. They have a budget of their own, which a forged flood cannot spend. */
export const PROVEN_SIGNATURES_PER_MINUTE = 120_000
/** Signatures of each of both budgets at once. */
export const SIGNATURES_BURST = 2_000
/** Signatures in a minute, of that second budget, for the clients of one network, a /24 or a /56: 50 a second. */
export const NETWORK_SIGNATURES_PER_MINUTE = 3_000
/** The same at once. A resolver that starts asks for many names. */
export const NETWORK_SIGNATURES_BURST = 500
