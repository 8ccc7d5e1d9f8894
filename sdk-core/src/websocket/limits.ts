// The limits of a visitor's WebSocket, each with its unit and reason.

/**
 * The default limit of a message, in bytes, all fragments together: enough for a
 * chat or a photo.
 */
export const MESSAGE_MAX_BYTES: number = 16 * 1024 * 1024
/** The payload of a control frame has at most this many bytes (RFC 6455 §5.5). */
export const CONTROL_MAX_BYTES = 125
/** The reason in a Close frame has at most this many bytes: a control frame's payload without the status code. */
export const REASON_MAX_BYTES = 123
/**
 * The most bytes that may be queued when `send` is called. One message may be larger. A visitor that reads nothing is
 * dropped.
 */
export const BUFFERED_MAX_BYTES: number = 16 * 1024 * 1024
/** The most bytes of one write to the stream, so that back-pressure and `bufferedAmount` see progress. */
export const WRITE_BYTES: number = 64 * 1024
/** The SDK compresses texts from this length: a shorter one gains little, and needs a packet in any case. */
export const DEFLATE_MIN_BYTES = 1024
/** The SDK compresses texts up to this length, which takes about 10 ms: a longer one would block the page. */
export const DEFLATE_MAX_BYTES: number = 1024 * 1024
/** The smallest allocation for a message of unknown length, in bytes. */
export const STORE_MIN_BYTES = 4096

/**
 * The SDK pings the visitor after this much silence: less than the minute after which proxies and NATs forget a
 * connection.
 */
export const SILENCE_MS = 30_000
/** The visitor is gone when nothing follows a ping for this long. */
export const PONG_MS = 20_000
/** The SDK waits this long for the answer to its Close frame, and for its last frame to leave. */
export const CLOSE_MS = 5_000
