// Holds the limits of requests to external DNS providers, and of the records that the relay makes there.

/** Records that the relay may have at its provider. Zones of most plans take fewer. */
export const JOURNAL_RECORDS_MAX = 10_000
/** Of these, records that only challenges, the root host and its wildcard may take: sites' ENS records leave them room. */
export const JOURNAL_RECORDS_RESERVED = 1_000
/** Bytes of the journal's file. A record with a long name takes some 400. */
export const JOURNAL_MAX_BYTES: number = 8 * 1024 * 1024
/** Times that the relay tries one change before it tells the caller. */
export const ATTEMPTS_MAX = 5
/** Milliseconds before the second attempt. Each later pause is twice as long. */
export const FIRST_PAUSE_MS = 1_000
/** Longest pause in milliseconds that the relay waits itself when a provider asks for one. Callers wait longer ones. */
export const PAUSE_MAX_MS = 60_000
/** Pages of one list. */
export const PAGES_MAX = 100
/** Labels of the root host that the search for its zone begins with. */
export const ZONE_LABELS_MAX = 10
/** Characters of a provider's own message in an error. */
export const MESSAGE_MAX_CHARS = 300
/** Times that the relay asks whether a change that it ordered is done. */
export const ACTION_POLLS_MAX = 60
/** Milliseconds between two such questions. */
export const ACTION_POLL_MS = 500
/** Milliseconds for the removal of challenges that a crash left. Changes wait for it, and what fails is tried again. */
export const LEFT_CHALLENGES_DEADLINE_MS = 10_000
/** Milliseconds for a token from an account's key, or from the metadata service of the machine. */
export const CREDENTIALS_DEADLINE_MS = 20_000
/** Seconds that resolvers may keep a record. */
export const RECORD_TTL_S = 60
/** Milliseconds until a provider that does not answer cannot answer for the host. */
export const CAN_ANSWER_DEADLINE_MS = 5_000
