// Holds the bounds of the budget of ACME orders: shares of the two settings, pauses after failures, and sizes of the file.

/** Share of the orders and certificates that is kept for the root host: no site gets it. */
export const ROOT_SHARE = 0.2
/** Share of the orders that is kept, beside that of the root host, for sites that renew a certificate. */
export const RENEWAL_SHARE = 0.2
/** Share of a week's certificates that new sites may get at once; the rest of theirs comes evenly over the week. */
export const SITE_BURST_SHARE = 0.4
/** Share of a week's certificates that one identity may get. Let's Encrypt gives one set of names 5 of 50. */
export const IDENTITY_SHARE = 0.1
/**
 * Shortest pause after a failed order; each further failure doubles it. Let's Encrypt lets a name fail 5 times at once, and
 * once more every 12 minutes, which these pauses never use up.
 */
export const BACKOFF_MIN_MS = 60_000
/** Longest pause after a failed order, unless the authority asks for a longer one. */
export const BACKOFF_MAX_MS: number = 12 * 3_600_000
/** The pause is longer than its minimum by a random part of up to this share, so that orders do not come all at once. */
export const BACKOFF_JITTER_SHARE: number = 1 / 3
/** Longest pause of the root host after a restart: its operator may have removed the reason. */
export const RESTART_PAUSE_MAX_MS = 60_000
/** Longest Retry-After of an authority that the relay believes. */
export const RETRY_AFTER_MAX_MS: number = 7 * 86_400_000
/** How long all sites wait at most when the authority limits the order of one: the limit may be that of the account. */
export const AUTHORITY_PAUSE_MAX_MS = 3_600_000
/** How long a failure counts towards the next pause, after its own pause has ended. */
export const FAILURE_MEMORY_MS: number = 24 * 3_600_000
/** Names and identities of sites whose failures the relay remembers. It forgets those first that may order soonest. */
export const SITE_FAILURES_MAX = 4096
/** The same for names of the root host, which are two. */
export const ROOT_FAILURES_MAX = 16
/** Identities whose certificates of a week the relay counts. It forgets those first that have spent least. */
export const IDENTITIES_MAX = 4096
/** UTF-16 code units of a remembered reason. */
export const REASON_MAX_CHARS = 300
/** Names of one order. Let's Encrypt takes 100. */
export const NAMES_PER_ORDER_MAX = 100
/** Time for a whole order, with the propagation of DNS records, which may take ten minutes for each name. */
export const ORDER_DEADLINE_MS: number = 30 * 60_000
/** First and longest pause between two looks at an order, unless the authority says how long it takes. */
export const POLL_FIRST_MS = 100
export const POLL_MAX_MS = 5_000
/** Longest pause between two looks that the authority may ask for. */
export const POLL_RETRY_AFTER_MAX_MS = 60_000
/** Pauses before a request is made again that had no answer, or one with a status of 500 or more. */
export const REQUEST_RETRY_MS: readonly number[] = [200, 1_000]
/** Longest Retry-After of such an answer for which a request waits. With a longer one the order ends, and the next one waits. */
export const REQUEST_RETRY_AFTER_MAX_MS = 10_000
/** Body of one answer of the authority: chains are the longest. */
export const ANSWER_MAX_BYTES: number = 256 * 1024
/** Certificates of one chain. */
export const CHAIN_MAX = 10
/** UTF-16 code units that a message takes from an answer of the authority. */
export const DETAIL_MAX_CHARS = 300
/** Time for one request to the authority. */
export const REQUEST_DEADLINE_MS = 30_000
/** Names that are proven by `tls-alpn-01` at once. */
export const PROVEN_NAMES_MAX = 1_000
/** Time for the name servers of other machines to take a record of which they have just heard. */
export const PROOF_SPREAD_MS = 500
/** Time for a change of the budget that all machines have; after it the machine keeps the change to itself. */
export const BUDGET_TURN_MS = 5_000
/** Time for the handshake in which a name is proven. */
export const PROOF_DEADLINE_MS = 10_000
/** Time to find out where a name leads that could not be validated. */
export const LOOKUP_DEADLINE_MS = 5_000
/** Difference of the clocks of relay and authority at which a chain still counts as valid now. */
export const CLOCK_SKEW_MS = 60_000
/** Interval at which the holder of the lock shows that it is alive, and at which others look. */
export const LOCK_REFRESH_MS = 5_000
/** Time without such a sign after which the lock of another machine counts as left behind. */
export const LOCK_STALE_MS = 60_000
/** Interval at which others look whether the lock is free. */
export const LOCK_LOOK_MS = 100
/** Longest pause between two looks at the wall clock, so that a renewal is in time after sleep and steps of the clock. */
export const RENEWAL_TICK_MS = 30_000
/** Interval at which the relay asks the authority anew when to renew (RFC 9773 §4.3 suggests six hours). */
export const RENEWAL_ASK_MS: number = 6 * 3_600_000
/** Pause after a failed renewal, unless the error says how long. */
export const RENEWAL_RETRY_MS = 60_000
/** Longest such pause that an error may ask for: then the relay looks whether the reason is gone. */
export const RENEWAL_RETRY_MAX_MS: number = 24 * 3_600_000
/** Pause after a certificate that is due for renewal as soon as it is issued, since the wall clock is wrong. */
export const RENEWAL_LOOP_MS = 3_600_000
/** Shortest pause until a certificate is written again that the disk had no room for. */
export const WRITE_RETRY_MS = 60_000
/** Share of its lifetime that is left to a wildcard certificate when it is given up for one without a wildcard. */
export const WILDCARD_KEPT_SHARE: number = 1 / 6
/** Pause until the relay looks again whether the DNS provider answers. */
export const WILDCARD_RETRY_MS: number = 10 * 60_000
/** Time for which a start waits to learn whether the DNS provider can answer. It looks again before each order. */
export const FIRST_LOOK_MS = 3_000
/** Domains of an authority that the relay puts into CAA records: each of them is enough for the authority. */
export const CAA_IDENTITIES_MAX = 8
/** Interval at which the relay asks the authority anew what CAA records call it. */
export const CAA_ASK_MS: number = 24 * 3_600_000
/** Pause after the first time that the authority did not say it. It doubles each time. */
export const CAA_RETRY_FIRST_MS = 10_000
/** Longest such pause. */
export const CAA_RETRY_MAX_MS: number = 3_600_000
