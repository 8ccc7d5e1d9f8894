// Holds the bounds of custom domains: of one look-up, of all of a network's, and the times of proofs.

/** Questions of one look-up: those of a zone with 13 servers, with room for aliases. */
export const QUESTIONS_MAX = 400
/** Time for the questions of one look-up. */
export const LOOKUP_MAX_MS = 15_000

/** Look-ups at one time, of all networks. */
export const LOOKUPS_MAX = 64
/** Look-ups at one time of one network, and of its neighbours together. */
export const LOOKUPS_PER_NETWORK_MAX = 4

/** A proof counts for this long while a later look-up does not find the record. */
export const PROOF_LIFETIME_MS: number = 24 * 3_600_000
/** A proof is repeated after this time, with the next renewal. */
export const PROOF_RENEWAL_MS = 3_600_000
/** Proofs that the relay remembers, also of leases that have ended. */
export const PROOFS_MAX = 100_000
/** Time until a domain that is not active may be looked up again. It doubles with each look-up. */
export const RETRY_FIRST_MS = 5_000
/** Longest such time. */
export const RETRY_MAX_MS = 300_000
/** How long an answer to `POST /sdk/domains` waits for look-ups. */
export const ANSWER_WAIT_MS = 10_000
/** Addresses of one family that the relay tells as records. */
export const ADDRESSES_MAX = 4
/** Characters of a server's answer in a reason. */
export const QUOTED_MAX_CHARS = 100
/** How long the relay's own addresses count before they are looked up again. */
export const RELAY_ADDRESSES_MS = 60_000
