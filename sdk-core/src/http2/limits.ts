// The limits of HTTP/2 that other versions do not share, each with its unit and reason.

/**
 * A frame's payload has at most this many bytes, in both directions: every peer accepts this (RFC 9113 §4.2), and it fits
 * a TLS record.
 */
export const FRAME_BYTES: number = 16 * 1024
/**
 * One connection has at most this many open requests: RFC 9113 §6.5.2 recommends at least 100, and browsers use no more.
 */
export const STREAMS_MAX = 128
/** The most unread body bytes of one stream: the size of a yamux window. */
export const STREAM_WINDOW_BYTES: number = 256 * 1024
/**
 * The most unread body bytes of a connection: four handlers that do not read do not block
 * the others.
 */
export const CONNECTION_WINDOW_BYTES: number = 1024 * 1024
/** The windows grow up to this for faster handlers: 20 MB/s at a round trip of 100 ms. */
export const STREAM_WINDOW_MAX_BYTES: number = 2 * 1024 * 1024
export const CONNECTION_WINDOW_MAX_BYTES: number = 4 * 1024 * 1024
/**
 * The most CONTINUATION frames of a header block (CVE-2024-27316). At their usual size, four make the largest
 * block.
 */
export const CONTINUATIONS_MAX = 32

/**
 * The most streams that may end before their response in a burst (CVE-2023-44487, CVE-2025-8671): enough for two pages full
 * of images.
 */
export const RESETS_BURST = 256
/** The most streams that may end before their response, per second. Each complete response allows one more. */
export const RESETS_PER_SECOND = 16
/**
 * The most frames without effect in a burst: PING, SETTINGS, PRIORITY, empty DATA and the like
 * (CVE-2019-9511 to 9518).
 */
export const IDLE_FRAMES_BURST = 1024
/**
 * The most frames without effect, per second. Clients that answer each frame with two WINDOW_UPDATEs stay far
 * below.
 */
export const IDLE_FRAMES_PER_SECOND = 128
/**
 * Each DATA frame or response that the SDK sends allows this many more such frames: its WINDOW_UPDATEs, PRIORITYs and the
 * like.
 */
export const IDLE_FRAMES_PER_WORK = 4
/** A DATA frame that the visitor's window made shorter than this allows none. */
export const WORK_MIN_BYTES = 256
/** Reading pauses when frames of this many bytes, other than DATA, wait to be written. */
export const CONTROL_WAITING_MAX_BYTES: number = 64 * 1024
/**
 * A request may continue after its response and is discarded, until this many milliseconds pass without more
 * of it. A client that reads RST_STREAM before it has sent everything fails, as curl 7.88 does; in this time it reads the
 * response, and either stops or sends the rest.
 */
export const DISCARDED_REQUEST_MS = 5000
/** The longest that such a request may continue, in milliseconds. */
export const DISCARDED_REQUEST_MAX_MS = 30_000
/** The SDK remembers this many closed streams, to distinguish late frames from errors. */
export const CLOSED_STREAMS_KNOWN = 256
