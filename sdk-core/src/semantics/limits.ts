// The limits that all versions of HTTP share here, each with its unit and the reason for its value.

/** Request line and header section together, line ends included: room for the cookies a browser may hold for a host. */
export const HEAD_BYTES: number = 64 * 1024
/** Field lines in a header section. Browsers send about 20, chains of proxies double that. */
export const HEAD_FIELDS = 100
/** Bytes given to the stream in one write, so that back-pressure and the stall limit see progress. */
export const WRITE_BYTES: number = 64 * 1024
/** From the first byte of a head to its end. */
export const HEAD_DEADLINE_MS = 15_000
/** Between two requests, and before the first. Browsers keep idle connections for minutes; each costs us a stream. */
export const IDLE_MS = 60_000
/** Without a byte of a body that the handler waits for. */
export const BODY_STALL_MS = 30_000
/** Without the stream taking more: a visitor that stopped reading. A paused video resumes with a new request. */
export const WRITE_STALL_MS = 120_000
/** A visitor that ended its direction and gets no byte for this long is taken to have left. */
export const HALF_CLOSED_MS = 10_000
/** From our end of the stream to the visitor's: lets it read the last response before the stream goes. */
export const LINGER_MS = 2_000
