// Holds the bounds of the budget of ACME orders: shares of the two settings, pauses after failures, and sizes of the file.

/** Share of the orders and certificates that is reserved for the root host. */
export const ROOT_SHARE = 0.2
/** Share of the orders that is also reserved for sites that renew a certificate. */
export const RENEWAL_SHARE = 0.2
/**
 * Share of a week's certificates that new sites may get at once; the rest of theirs becomes available evenly over the
 * week.
 */
export const SITE_BURST_SHARE = 0.4
/** Share of a week's certificates that one identity may get. Let's Encrypt gives one set of names 5 of 50. */
export const IDENTITY_SHARE = 0.1
/**
 * Shortest pause after a failed order; each further failure doubles it. Let's Encrypt lets a name fail 5 times at once,
 * and once more every 12 minutes: these pauses stay below that.
 */
export const BACKOFF_MIN_MS = 60_000
/** Longest pause after a failed order, unless the authority asks for a longer one. */
export const BACKOFF_MAX_MS: number = 12 * 3_600_000
/** Each pause is extended by a random share of up to this much, so that orders do not all come at once. */
export const BACKOFF_JITTER_SHARE: number = 1 / 3
/** Longest pause of the root host after a restart: the operator may have fixed the cause. */
export const RESTART_PAUSE_MAX_MS = 60_000
/** Longest Retry-After of an authority that the relay follows. */
export const RETRY_AFTER_MAX_MS: number = 7 * 86_400_000
/** How long all sites wait at most when the authority limits the order of one: the limit may apply to the account. */
export const AUTHORITY_PAUSE_MAX_MS = 3_600_000
/** How long a failure counts towards the next pause, after its own pause has ended. */
export const FAILURE_MEMORY_MS: number = 24 * 3_600_000
/** Names and identities of sites whose failures the relay remembers. It first forgets those that may order soonest. */
export const SITE_FAILURES_MAX = 4096
/** The same for names of the root host, which are two. */
export const ROOT_FAILURES_MAX = 16
/** Identities whose weekly certificates the relay counts. It first forgets those that have spent least. */
export const IDENTITIES_MAX = 4096
/** UTF-16 code units of a remembered reason. */
export const REASON_MAX_CHARS = 300
/** Names of one order. Let's Encrypt takes 100. */
export const NAMES_PER_ORDER_MAX = 100
/** Time for a whole order, with the propagation of DNS records, which may take ten minutes for each name. */
export const ORDER_DEADLINE_MS: number = 30 * 60_000
/** First and longest pause between two polls of an order, unless the authority says how long to wait. */
export const POLL_FIRST_MS = 100
export const POLL_MAX_MS = 5_000
/** Longest pause between two polls that the authority may ask for. */
export const POLL_RETRY_AFTER_MAX_MS = 60_000
/** Pauses before the relay repeats a request that had no answer, or one with a status of 500 or more. */
export const REQUEST_RETRY_MS: readonly number[] = [200, 1_000]
/**
 * Longest Retry-After of such an answer for which a request waits. A longer one ends the order and delays the next one.
 */
export const REQUEST_RETRY_AFTER_MAX_MS = 10_000
/** Body of one answer of the authority: chains are the longest. */
export const ANSWER_MAX_BYTES: number = 256 * 1024
/** Certificates of one chain. */
export const CHAIN_MAX = 10
/** Time for one request to the authority. */
export const REQUEST_DEADLINE_MS = 30_000
/** Names that are proven by `tls-alpn-01` at the same time. */
export const PROVEN_NAMES_MAX = 1_000
/** Time for the name servers of other machines to apply a record that they have just received. */
export const PROOF_SPREAD_MS = 500
/** Time for a change of the budget that all machines share; after it the machine makes the change only for itself. */
export const BUDGET_TURN_MS = 5_000
/** Time for the handshake in which a name is proven. */
export const PROOF_DEADLINE_MS = 10_000
/** Time to resolve a name that could not be validated. */
export const LOOKUP_DEADLINE_MS = 5_000
/** Difference between the clocks of relay and authority within which a chain still counts as valid now. */
export const CLOCK_SKEW_MS = 60_000
/** Interval at which the holder of the lock refreshes it to show that it is alive. */
export const LOCK_REFRESH_MS = 5_000
/** Time without a refresh after which another machine's lock counts as stale. */
export const LOCK_STALE_MS = 60_000
/** Interval at which others check whether the lock is free. */
export const LOCK_LOOK_MS = 100
/** Longest pause between two checks of the wall clock, so that a renewal is in time after sleep and clock steps. */
export const RENEWAL_TICK_MS = 30_000
/** Interval at which the relay asks the authority again when to renew (RFC 9773 §4.3 suggests six hours). */
export const RENEWAL_ASK_MS: number = 6 * 3_600_000
/** Pause after a failed renewal, unless the error says how long. */
export const RENEWAL_RETRY_MS = 60_000
/** Longest such pause that an error may ask for. */
export const RENEWAL_RETRY_MAX_MS: number = 24 * 3_600_000
/** Pause after a certificate that is due for renewal as soon as it is issued, because the wall clock is wrong. */
export const RENEWAL_LOOP_MS = 3_600_000
/** Shortest pause until the relay writes a certificate again for which the disk had no room. */
export const WRITE_RETRY_MS = 60_000
/** Remaining share of a wildcard certificate's lifetime below which one without a wildcard may replace it. */
export const WILDCARD_KEPT_SHARE: number = 1 / 6
/** Pause until the relay checks again whether the DNS provider answers. */
export const WILDCARD_RETRY_MS: number = 10 * 60_000
/** How long a start waits to learn whether the DNS provider can answer. The relay checks again before each order. */
export const FIRST_LOOK_MS = 3_000
/** Domains of an authority that the relay puts into CAA records: the authority needs only one. */
export const CAA_IDENTITIES_MAX = 8
/** Interval at which the relay asks the authority again for its CAA domains. */
export const CAA_ASK_MS: number = 24 * 3_600_000
/** Pause after the first failure to get them. It doubles each time. */
export const CAA_RETRY_FIRST_MS = 10_000
/** Longest such pause. */
export const CAA_RETRY_MAX_MS: number = 3_600_000
