// The limits of HTTP/1.1 that other versions do not share, each with its unit and reason.

/** A request line has at most this many bytes, method to version. RFC 9112 §3 recommends at least 8000 octets. */
export const REQUEST_LINE_BYTES: number = 8 * 1024
/** A chunk's size line has at most this many bytes, extensions included. Real ones have at most 8. */
export const CHUNK_LINE_BYTES = 256
/** A chunk size has at most this many hexadecimal digits: 2^48 octets, well within the exact range of a number. */
export const CHUNK_SIZE_DIGITS = 12
/**
 * The chunk extensions of one body have at most this many bytes. They are ignored, so they must cost little
 * (CVE-2024-22019).
 */
export const CHUNK_EXTENSIONS_BYTES: number = 16 * 1024
/** A trailer section has at most this many bytes, line ends included. */
export const TRAILERS_BYTES: number = 8 * 1024
/** A trailer section has at most this many field lines. */
export const TRAILER_FIELDS = 32

/** Reading pauses when this many bytes wait unread: the bound on pipelined requests and on an unread body. */
export const READ_AHEAD_BYTES: number = 64 * 1024
/** Chunks of at least this size are not joined: that costs more than a chunk does. */
export const UNJOINED_MIN_BYTES: number = 4 * 1024
/** The most waiting chunks. When more arrive, the waiting ones are joined, because a chunk costs more than a byte. */
export const WAITING_PIECES = 64
/**
 * The SDK reads up to this many bytes of a body that the handler left unread, to keep the connection (the limit of Go's
 * net/http).
 */
export const DRAIN_BYTES: number = 256 * 1024
/** A handler that is reading when its response ends may continue, until it starts no read for this long. */
export const READ_ON_MS = 1_000
/** The SDK reads the rest of such a body for at most this long. */
export const DRAIN_MS = 5_000
