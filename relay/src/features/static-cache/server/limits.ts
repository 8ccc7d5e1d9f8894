// Holds the limits of the cache's server, each with its unit and reason.

/** Open connections to one site. Those of all sites and of each network count at the listener as well. */
export const SITE_CONNECTIONS_MAX = 4096
/** The same from one network. A browser opens six. */
export const SITE_CONNECTIONS_PER_NETWORK_MAX = 1024
/**
 * The time, in milliseconds, after which the relay cuts the connection, or the stream, of a visitor who reads nothing
 * of a response.
 */
export const VISITOR_WRITE_DEADLINE_MS = 30_000
/** Open streams of one HTTP/2 connection: RFC 9113 §6.5.2 advises no fewer. */
export const HTTP2_STREAMS_MAX = 100
/** Bytes of the fields of a request over HTTP/2, as RFC 9113 §6.5.2 counts them. */
export const HTTP2_FIELDS_MAX_BYTES: number = 64 * 1024
/** Memory of an HTTP/2 connection for its frames, streams and fields, in megabytes (1,000,000 bytes), which is how Node counts. */
export const HTTP2_MEMORY_MAX_MB = 2
/** Entries of one SETTINGS frame. RFC 9113 §6.5.2 defines six. */
export const HTTP2_SETTINGS_MAX = 32
/** Bytes of a body that leave in one write over HTTP/2: a visitor that takes fewer in {@link VISITOR_WRITE_DEADLINE_MS} has stopped. */
export const HTTP2_WRITE_BYTES: number = 32 * 1024
/** Streams that a visitor may reset at once, and in a second. A browser resets those of a page that it leaves. */
export const HTTP2_RESETS_BURST = 200
export const HTTP2_RESETS_PER_SECOND = 33
/** Frames of an HTTP/2 connection that break the protocol before the relay closes it. */
export const HTTP2_INVALID_FRAMES_MAX = 32
/** Size in bytes up to which files stay in memory: that of most files that a page loads, once compressed. */
export const MEMORY_FILE_MAX_BYTES: number = 128 * 1024
/** Bytes of all files in memory. */
export const MEMORY_FILES_MAX_BYTES: number = 16 * 1024 * 1024
/** Time, in milliseconds, after which a file that no visitor requests leaves the memory. */
export const MEMORY_FILE_IDLE_MS = 60_000
/** Bytes of a larger file that are read at once. */
export const FILE_PIECE_BYTES: number = 256 * 1024
/**
 * The same while the responses to the visitor's network, or to all, hold {@link PIECES_AMPLE_SHARE} of their memory.
 */
export const FILE_PIECE_MIN_BYTES: number = 32 * 1024
export const PIECES_AMPLE_SHARE = 0.5
/**
 * Bytes that responses on their way to one network may hold, a piece and its encrypted copy each: 32 of large files, and 256
 * more in smaller pieces.
 */
export const FILE_BYTES_PER_NETWORK_MAX: number = 32 * 1024 * 1024
/** The same for all visitors. */
export const FILE_BYTES_MAX: number = 128 * 1024 * 1024
/** Buffers of {@link FILE_PIECE_BYTES} that the relay keeps for the next responses: 4 MiB. */
export const FILE_BUFFERS_SPARE_MAX = 16
/**
 * Bytes that a response counts besides its content when the operator limits the identity's bandwidth: the fields of
 * request and response, and TLS.
 */
export const LIMITED_RESPONSE_BYTES = 512
/**
 * Time, in milliseconds, that earlier responses of such an identity may take. If they take longer, a response does not
 * begin: no browser waits that long.
 */
export const LIMITED_WAIT_MAX_MS = 30_000
/** `Retry-After` of that refusal, in seconds. */
export const LIMITED_RETRY_AFTER_S = 30
/** Interval, in milliseconds, at which a waiting response checks whether the limit was lifted. */
export const LIMITED_RECHECK_MS = 1_000
/** Large files kept open for a whole response, out of the descriptors that are not for connections. */
export const FILES_HELD_MAX = 64
/** File reads that run at once, on the threads that Node has for all files of the relay. */
export const FILE_READS_MAX = 32
/**
 * `Retry-After`, in seconds, of a request that only the site could answer, while it is away: as long as a page takes to
 * reload.
 */
export const AWAY_RETRY_AFTER_S = 30
/** Values of `Accept-Encoding` whose parsed form is cached. Browsers send a handful. */
export const ACCEPTED_CODINGS_MAX = 64
/** Length, in UTF-16 code units, beyond which a value is parsed each time. */
export const ACCEPTED_CODINGS_MAX_CHARS = 128
