// Holds the bounds of changes of DNS records, and of the wait until a record has reached the name servers.

/** Pause after the first failed change of DNS records. It doubles each time. */
export const DNS_RETRY_FIRST_MS = 2_000
/** Longest such pause. */
export const DNS_RETRY_MAX_MS: number = 10 * 60_000
/** Longest pause that a DNS provider may ask for. */
export const DNS_RETRY_AFTER_MAX_MS: number = 60 * 60_000
/** Queued changes of DNS records. ENS queues one at most, and ACME two for each order. */
export const DNS_CHANGES_WAITING_MAX = 1_000
/** Time within which all name servers of a zone must answer with a new record. */
export const PROPAGATION_MAX_MS: number = 10 * 60_000
/** First pause between two rounds of questions; each is longer than the one before. */
export const PROPAGATION_FIRST_PAUSE_MS = 500
/** Longest pause between two rounds of questions. */
export const PROPAGATION_PAUSE_MAX_MS = 15_000
/** How long one question waits for its answer. */
export const DNS_QUESTION_TIMEOUT_MS = 5_000
/** Time for all queries that check whether the public DNS leads to this relay's name server. */
export const DELEGATION_PROBE_MS = 10_000
/** Time for the answer to one of them. */
export const DELEGATION_QUESTION_MS = 3_000
