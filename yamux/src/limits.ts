// Every number of this package, once: its unit in the name, what it bounds, and where it comes from.

/** Both sides assume it for every new stream (specification, "Flow Control"); it can only be enlarged. */
export const INITIAL_WINDOW_BYTES: number = 256 * 1024
/** A send window is a 32-bit counter in every implementation: credit beyond it is a protocol error. */
export const WINDOW_MAX_BYTES: number = 2 ** 32 - 1
/** How far one stream's receive window may grow, unless told otherwise: 320 Mbit/s at 100 ms. */
export const GROWN_WINDOW_DEFAULT_BYTES: number = 4 * 1024 * 1024
/** What all windows of a session together may grow beyond their initial size, unless told otherwise. */
export const WINDOW_BUDGET_DEFAULT_BYTES: number = 16 * 1024 * 1024

/** Streams that were opened and not acknowledged, each way (hashicorp: `AcceptBacklog`). */
export const ACCEPT_BACKLOG_DEFAULT = 256
/** Streams of a session, both ways: with the initial window it bounds what a peer can make us hold. */
export const STREAMS_DEFAULT_MAX = 1024
/** Stream ids are 32-bit and never used twice. */
export const STREAM_ID_MAX: number = 2 ** 32 - 1

/** Timers take a signed 32-bit number of milliseconds, and fire at once beyond it. */
export const TIMER_MAX_MS: number = 2 ** 31 - 1

/** hashicorp: `KeepAliveInterval`. */
export const KEEPALIVE_INTERVAL_DEFAULT_MS = 30_000
/** How long the answer to a ping may take (hashicorp: `ConnectionWriteTimeout`). */
export const PING_TIMEOUT_DEFAULT_MS = 10_000
/** How long an opened stream may go unacknowledged (hashicorp: `StreamOpenTimeout`). */
export const OPEN_TIMEOUT_DEFAULT_MS = 75_000
/** How long a stream that we ended may be silent before its own end (hashicorp: `StreamCloseTimeout`). */
export const CLOSE_TIMEOUT_DEFAULT_MS: number = 5 * 60_000

/** One stream's turn: a TLS record as large as they come (RFC 8446 §5.2) is one frame. */
export const SLICE_MAX_BYTES: number = 16 * 1024 + 256 + 5
/** Turns in one message to the transport: large enough to be cheap, small enough to let others in between. */
export const SLICES_PER_MESSAGE = 4
/**
 * Frames without payload that wait for a saturated transport: a stream may have four (SYN or ACK, two window
 * updates, RST). More than four for each allowed stream means a peer that asks without reading our answers, and
 * ends the session; …
 */
export const CONTROL_FRAMES_PER_STREAM = 4
/** … but so many may wait in any session, for the RSTs of refused streams. */
export const CONTROL_QUEUE_MIN_FRAMES = 4096
/** Answers to pings among them. A peer with more pings in flight than that gets no answer to the rest. */
export const PONG_QUEUE_MAX_FRAMES = 16

/** A payload smaller than this is copied when it has to wait for its reader: many tiny views cost more than bytes. */
export const VIEW_MIN_BYTES: number = 4 * 1024
/** A payload is kept as a view only where it is at least this part of the memory that the view keeps alive. */
export const VIEW_MIN_SHARE: number = 1 / 8
