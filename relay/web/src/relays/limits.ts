// The limits of the page of relays.

/** The number of relays shown and measured at first, and with each "Show more". */
export const RELAYS_PER_STEP = 20
/** The most concurrent measurements: more would delay each other in a slow network. */
export const MEASUREMENTS_AT_ONCE_MAX = 4
/** The deadline of one measurement with its connection, in milliseconds. */
export const MEASUREMENT_DEADLINE_MS = 5_000
/** The largest answer, in bytes. A relay of this software answers with less than 1 KiB. */
export const ANSWER_MAX_BYTES: number = 64 * 1024
/** The interval between loads of the list, in milliseconds: relays themselves poll each other every two minutes. */
export const POLL_MS = 30_000
