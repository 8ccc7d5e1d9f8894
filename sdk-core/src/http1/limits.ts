// Every limit of HTTP/1.1 beside those that all versions share, each with its unit and the reason for its value.

/** Request line, method to version. RFC 9112 §3 asks for at least 8000 octets. */
export const REQUEST_LINE_BYTES: number = 8 * 1024
/** Size line of a chunk, extensions included. Real ones have at most 8 octets. */
export const CHUNK_LINE_BYTES = 256
/** Hexadecimal digits of a chunk size: 2^48 octets, far inside what a number holds exactly. */
export const CHUNK_SIZE_DIGITS = 12
/** Chunk extensions in one body. They mean nothing here, so they may cost next to nothing (CVE-2024-22019). */
export const CHUNK_EXTENSIONS_BYTES: number = 16 * 1024
/** Trailer section, line ends included. */
export const TRAILERS_BYTES: number = 8 * 1024
/** Field lines in a trailer section. */
export const TRAILER_FIELDS = 32

/** Bytes that wait unread before reading pauses: the bound on pipelined requests and on an unread body. */
export const READ_AHEAD_BYTES: number = 64 * 1024
/** Body that a handler left unread and that is read away to keep the connection (the bound of Go's net/http). */
export const DRAIN_BYTES: number = 256 * 1024
/** For the rest of a body that nobody reads. */
export const DRAIN_MS = 5_000
