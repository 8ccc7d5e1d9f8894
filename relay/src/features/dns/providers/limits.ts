// Holds the limits of the records that the relay makes at external DNS providers.

/** Records that the relay may have at its provider. Zones of most plans take fewer. */
export const JOURNAL_RECORDS_MAX = 10_000
/**
 * The part of these that is reserved for challenges, the root host and its wildcard: sites' ENS records cannot use it.
 */
export const JOURNAL_RECORDS_RESERVED = 1_000
/** Bytes of the journal's file. A record with a long name takes about 400. */
export const JOURNAL_MAX_BYTES: number = 8 * 1024 * 1024
/**
 * Milliseconds for the removal of challenges that a crash left. Changes wait for it, and failed removals are tried
 * again.
 */
export const LEFT_CHALLENGES_DEADLINE_MS = 10_000
/** Milliseconds for `canAnswer`: a provider that takes longer counts as one that cannot answer. */
export const CAN_ANSWER_DEADLINE_MS = 5_000
