// Limits of what one visitor may cost the room, each with its unit.

/** Messages that the room remembers, and that each page shows. */
export const HISTORY_MAX = 100
/** Characters of a message. */
export const TEXT_MAX_CHARS = 500
/** Characters of a name. */
export const NAME_MAX_CHARS = 24
/** People in the room, its host among them. */
export const PEOPLE_MAX = 50
/** Messages that one member may send within `RATE_WINDOW_MS`. */
export const RATE_MAX_MESSAGES = 10
/** Milliseconds for which messages are counted: a person writes no faster for others to read. */
export const RATE_WINDOW_MS = 10_000
/** Bytes that a visitor may send at once: a message of which JSON escapes each character, and some more. */
export const SENT_MAX_BYTES: number = 8 * 1024
/** Bytes that may wait for a visitor who does not read: the longest history twice. */
export const WAITING_MAX_BYTES: number = 512 * 1024
/** Milliseconds between two writes to a stream of events: only a write shows that a visitor left without closing. */
export const KEEPALIVE_MS = 20_000
