// What one visitor may cost the room, each with its unit.

/** Messages that the room remembers, and that each page shows. */
export const HISTORY_MAX = 100
/** Characters of a message. */
export const TEXT_MAX_CHARS = 500
/** Characters of a name. */
export const NAME_MAX_CHARS = 24
/** People in the room, its host among them. */
export const PEOPLE_MAX = 50
/** Messages of one person, … */
export const RATE_MAX_MESSAGES = 10
/** … within this long: nobody writes faster for others to read. In milliseconds. */
export const RATE_WINDOW_MS = 10_000
/** What a visitor sends at once, in bytes: a message of which JSON escapes each character, and some air. */
export const SENT_MAX_BYTES: number = 8 * 1024
/** What waits for a visitor who does not read, in bytes: the longest history twice. */
export const WAITING_MAX_BYTES: number = 512 * 1024
/** A stream of events is written to this often, in milliseconds: only so is noticed who left without a word. */
export const KEEPALIVE_MS = 20_000
