// The limits that all HTTP versions share, each with its unit and reason.

/**
 * The largest request line plus header section, in bytes, with line ends: room for a browser's cookies of one
 * host.
 */
export const HEAD_BYTES: number = 64 * 1024
/** A header section has at most this many field lines. Browsers send about 20, chains of proxies double that. */
export const HEAD_FIELDS = 100
/** The most bytes of one write to the stream, so that back-pressure and the stall limit see progress. */
export const WRITE_BYTES: number = 64 * 1024
/** The deadline of a request head, from its first byte. */
export const HEAD_DEADLINE_MS = 15_000
/**
 * A connection may be idle this long between two requests, and before the first. Browsers keep idle connections for
 * minutes, and each costs a stream.
 */
export const IDLE_MS = 60_000
/** A handler's read of the body fails when no byte came for this long. */
export const BODY_STALL_MS = 30_000
/** A visitor that accepts no byte for this long has stopped reading. A paused video resumes with a new request. */
export const WRITE_STALL_MS = 120_000
/** A visitor that ended its direction and gets no byte for this long is considered gone. */
export const HALF_CLOSED_MS = 10_000
/** The SDK waits this long for the visitor's end after its own, so that the visitor can read the last response. */
export const LINGER_MS = 2_000
