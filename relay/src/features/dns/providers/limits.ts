// Holds the limits of requests to external DNS providers, and of the records that the relay makes there.

/** Records that the relay may have at its provider. Zones of most plans take fewer. */
export const JOURNAL_RECORDS_MAX = 10_000
/**
 * The part of these that is reserved for challenges, the root host and its wildcard: sites' ENS records cannot use it.
 */
export const JOURNAL_RECORDS_RESERVED = 1_000
/** Bytes of the journal's file. A record with a long name takes about 400. */
export const JOURNAL_MAX_BYTES: number = 8 * 1024 * 1024
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
/** Labels of the root host with which the search for its zone begins. */
export const ZONE_LABELS_MAX = 10
/** Characters of a provider's own message in an error. */
export const MESSAGE_MAX_CHARS = 300
/** Times that the relay polls a change that it requested. */
export const ACTION_POLLS_MAX = 60
/** Milliseconds between two such polls. */
export const ACTION_POLL_MS = 500
/**
 * Milliseconds for the removal of challenges that a crash left. Changes wait for it, and failed removals are tried
 * again.
 */
export const LEFT_CHALLENGES_DEADLINE_MS = 10_000
/** Milliseconds for a token from an account's key, or from the metadata service of the machine. */
export const CREDENTIALS_DEADLINE_MS = 20_000
/** Seconds that resolvers may cache a record. */
export const RECORD_TTL_S = 60
/** Milliseconds for `canAnswer`: a provider that takes longer counts as one that cannot answer. */
export const CAN_ANSWER_DEADLINE_MS = 5_000
