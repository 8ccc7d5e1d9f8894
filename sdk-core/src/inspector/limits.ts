// The limits of what an inspector keeps, each with its unit and reason.

/** The default number of entries. */
export const ENTRIES: number = 100
/** The default number of bytes of each content. */
export const BODY_BYTES: number = 64 * 1024
/** The default number of bytes of all entries. */
export const TOTAL_BYTES: number = 16 * 1024 * 1024
/** The bytes of each message of a stream. */
export const MESSAGE_BYTES: number = 16 * 1024
/** The messages of one entry: the oldest is dropped first. */
export const MESSAGES_MAX = 500
/** The most parts of one multipart form. */
export const PARTS_MAX = 200
/** The bytes of each part that are kept for a view. */
export const PART_BYTES: number = 4 * 1024
/** The bytes of the head of a part: far more than a name, a file name and a type need. */
export const PART_HEAD_BYTES: number = 4 * 1024
/** What an entry needs in memory beside its fields and contents, in bytes, measured. */
export const ENTRY_OVERHEAD_BYTES = 1_500
/** What each field, message or part needs beside its text, in bytes. */
export const ITEM_OVERHEAD_BYTES = 100
/** Removals that are remembered for those who follow the list. */
export const REMOVALS_MAX = 1_000
