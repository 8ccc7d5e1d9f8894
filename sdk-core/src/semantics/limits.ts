// Every limit of the HTTP server, each with its unit and the reason for its value.

/** Request line, method to version. RFC 9112 §3 asks for at least 8000 octets. */
export const REQUEST_LINE_BYTES: number = 8 * 1024
/** Request line and header section together, line ends included: room for the cookies a browser may hold for a host. */
export const HEAD_BYTES: number = 64 * 1024
/** Field lines in a header section. Browsers send about 20, chains of proxies double that. */
export const HEAD_FIELDS = 100
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
/** Bytes given to the stream in one write, so that back-pressure and the stall limit see progress. */
export const WRITE_BYTES: number = 64 * 1024
/** Body that a handler left unread and that is read away to keep the connection (the bound of Go's net/http). */
export const DRAIN_BYTES: number = 256 * 1024

/** From the first byte of a head to its end. */
export const HEAD_DEADLINE_MS = 15_000
/** Between two requests, and before the first. Browsers keep idle connections for minutes; each costs us a stream. */
export const IDLE_MS = 60_000
/** Without a byte of a body that the handler waits for. */
export const BODY_STALL_MS = 30_000
/** For the rest of a body that nobody reads. */
export const DRAIN_MS = 5_000
/** Without the stream taking more: a visitor that stopped reading. A paused video resumes with a new request. */
export const WRITE_STALL_MS = 120_000
/** A visitor that ended its direction and gets no byte for this long is taken to have left. */
export const HALF_CLOSED_MS = 10_000
/** From our end of the stream to the visitor's: lets it read the last response before the stream goes. */
export const LINGER_MS = 2_000
