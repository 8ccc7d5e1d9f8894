// The limits of a strict server, each with its unit and reason.

/**
 * The largest request head, at every server: the SDKs' limit, so that a site gets the same at each of its
 * hostnames.
 */
export const REQUEST_HEAD_MAX_BYTES: number = 64 * 1024
/** The largest request line. */
export const REQUEST_LINE_MAX_BYTES: number = 8 * 1024
/** The most fields. */
export const REQUEST_FIELDS_MAX = 100
/** The time for a client to read the last answer and to end its connection, while further input is dropped. */
export const LINGER_MS = 2_000
/** The most bytes dropped meanwhile. */
export const LINGER_MAX_BYTES: number = 1024 * 1024
