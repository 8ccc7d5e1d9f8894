// Holds the limits of the page of relays.

/** Relays that are shown, and measured, at first, and by each "Show more". */
export const RELAYS_PER_STEP = 20
/** Relays that are measured at once: more would wait for each other in a slow network. */
export const MEASUREMENTS_AT_ONCE_MAX = 4
/** Time for one measurement with its connection, in milliseconds. */
export const MEASUREMENT_DEADLINE_MS = 5_000
/** Bytes of one answer that are read. A relay of this software answers with less than 1 KiB. */
export const ANSWER_MAX_BYTES: number = 64 * 1024
/** Time between two loads of the list, in milliseconds: relays themselves ask each other every two minutes. */
export const POLL_MS = 30_000
