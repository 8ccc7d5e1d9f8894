// All limits of this package, each declared once, with its unit in the name, its purpose and its source.

/** Both sides assume this window for every new stream (specification, "Flow Control"). It can only be enlarged. */
export const INITIAL_WINDOW_BYTES: number = 256 * 1024
/** A send window is a 32-bit counter in every implementation. Credit beyond it is a protocol error. */
export const WINDOW_MAX_BYTES: number = 2 ** 32 - 1
/** One stream's receive window may grow to this by default: 320 Mbit/s at 100 ms. */
export const GROWN_WINDOW_DEFAULT_BYTES: number = 4 * 1024 * 1024
/** All windows of a session together may grow by this by default. */
export const WINDOW_BUDGET_DEFAULT_BYTES: number = 16 * 1024 * 1024

/** The most unacknowledged opened streams, in each direction (hashicorp: `AcceptBacklog`). */
export const ACCEPT_BACKLOG_DEFAULT = 256
/**
 * The most streams of a session, in both directions. With the initial window this bounds the memory that a peer can
 * claim.
 */
export const STREAMS_DEFAULT_MAX = 1024
/** Stream ids are 32-bit and never used twice. */
export const STREAM_ID_MAX: number = 2 ** 32 - 1

/** Timers take a signed 32-bit number of milliseconds, and fire at once beyond it. */
export const TIMER_MAX_MS: number = 2 ** 31 - 1

/** The time between pings (hashicorp: `KeepAliveInterval`). */
export const KEEPALIVE_INTERVAL_DEFAULT_MS = 30_000
/** The answer to a ping may take this long (hashicorp: `ConnectionWriteTimeout`). */
export const PING_TIMEOUT_DEFAULT_MS = 10_000
/** An opened stream may remain unacknowledged this long (hashicorp: `StreamOpenTimeout`). */
export const OPEN_TIMEOUT_DEFAULT_MS = 75_000
/** A stream that this side ended may be silent this long before the peer's end (hashicorp: `StreamCloseTimeout`). */
export const CLOSE_TIMEOUT_DEFAULT_MS: number = 5 * 60_000

/** One stream's slice of a message: a TLS record of full size (RFC 8446 §5.2) fits in one frame. */
export const SLICE_MAX_BYTES: number = 16 * 1024 + 256 + 5
/**
 * One message to the transport has this many slices: large enough to be cheap, small enough to let other streams in
 * between.
 */
export const SLICES_PER_MESSAGE = 4
/**
 * The most frames without payload that may wait for a saturated transport, for each allowed stream: SYN or ACK, two window
 * updates, RST. With more than that, and more than {@link CONTROL_QUEUE_MIN_FRAMES}, the peer sends requests without
 * reading the answers, and the session ends.
 */
export const CONTROL_FRAMES_PER_STREAM = 4
/** The number of control frames that may wait in any session, for the RSTs of refused streams. */
export const CONTROL_QUEUE_MIN_FRAMES = 4096
/** The most ping answers among them. A peer with more pings in flight gets no answer to the rest. */
export const PONG_QUEUE_MAX_FRAMES = 16

/** A smaller payload is copied when it waits for its reader: many tiny views cost more than bytes. */
export const VIEW_MIN_BYTES: number = 4 * 1024
/** A payload is kept as a view only if it is at least this share of the buffer that the view keeps alive. */
export const VIEW_MIN_SHARE: number = 1 / 8
