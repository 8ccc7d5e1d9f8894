// The limits of a strict server, each with its unit and reason.

/**
 * Head of a request, at every server: as much as the SDKs take, so that a site gets at each of its hostnames what it
 * gets at the others.
 */
export const REQUEST_HEAD_MAX_BYTES: number = 64 * 1024
/** Request line of such a head. */
export const REQUEST_LINE_MAX_BYTES: number = 8 * 1024
/** Fields of such a head. */
export const REQUEST_FIELDS_MAX = 100
/** Time for a client to read the last answer of a connection and to end it, while what it still sends is dropped. */
export const LINGER_MS = 2_000
/** Bytes that are dropped meanwhile. */
export const LINGER_MAX_BYTES: number = 1024 * 1024
