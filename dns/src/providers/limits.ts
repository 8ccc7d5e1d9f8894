// Holds the limits of requests to external DNS providers.

/** Attempts at one change before the caller gets the error. */
export const ATTEMPTS_MAX = 5
/** Milliseconds before the second attempt. Each later pause is twice as long. */
export const FIRST_PAUSE_MS = 1_000
/**
 * Longest pause in milliseconds that a retry waits when a provider asks for one. Longer ones are left to the caller.
 */
export const PAUSE_MAX_MS = 60_000
/** Pages of one list. */
export const PAGES_MAX = 100
/** Labels of a name with which the search for its zone begins. */
export const ZONE_LABELS_MAX = 10
/** Characters of a provider's own message in an error. */
export const MESSAGE_MAX_CHARS = 300
/** Polls of a change that was requested. */
export const ACTION_POLLS_MAX = 60
/** Milliseconds between two of them. */
export const ACTION_POLL_MS = 500
/** Milliseconds for a token from an account's key, or from the metadata service of the machine. */
export const CREDENTIALS_DEADLINE_MS = 20_000
/** Seconds that resolvers may cache a record. */
export const RECORD_TTL_S = 60
