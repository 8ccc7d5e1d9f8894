// The limits of paid routes, each with its unit and reason.

/** A payment has at most this many characters of Base64. A signed payment has some 1,500, one by several keys or zkLogin up to 8,000. */
export const PAYMENT_MAX_CHARS: number = 16 * 1024
/** The largest body of `POST /x402/prepare`, in bytes (the protocol's own limit). */
export const PREPARE_MAX_BYTES: number = 64 * 1024
/**
 * How long a payment that bought a response is remembered, in milliseconds. By then its transaction has expired, even if clocks
 * differ by minutes, so that the facilitator refuses it.
 */
export const USED_FOR_MS: number = 10 * 60_000
/**
 * The most payments that a process remembers: a few megabytes. Each settled one cost its payer money. No
 * further payment is taken while this many are remembered.
 */
export const REMEMBERED_MAX = 10_000
/** The most paid requests in progress, in a process: each waits for the facilitator and holds one response, but no body. */
export const SALES_AT_ONCE = 256
/** The most transactions being prepared, in a process: each costs the facilitator several requests to the chain. */
export const PREPARES_AT_ONCE = 32
/** The deadline for verifying a payment, in milliseconds: the facilitator asks a full node, and another one if that hangs. */
export const VERIFY_DEADLINE_MS = 20_000
/** The deadline of one attempt to settle, in milliseconds: the transaction must be executed and found. */
export const SETTLE_DEADLINE_MS = 30_000
/** The attempts at a settlement whose outcome is unknown. The same payment is never executed twice. */
export const SETTLE_ATTEMPTS = 2
/** A path with more possible readings than this is refused. Ordinary paths have a handful. */
export const READINGS_MAX = 128
/** The most paths that are read from the fields of one request: a proxy sets one or two. */
export const NAMED_PATHS_MAX = 8
/**
 * The largest content of a request whose method costs less than another one, in bytes: it is read before the handler
 * runs, since it may name that other method. A form of text fields has a few thousand.
 */
export const JUDGED_CONTENT_MAX_BYTES: number = 64 * 1024
/** The longest path with several possible readings, in characters: checking it takes milliseconds. */
export const PATH_MAX_CHARS: number = 4 * 1024
/** The pause before another search for the relay's facilitator, in milliseconds. */
export const FACILITATOR_RETRY_MS = 5_000
/** The most paid routes of one site: each request is compared with all. */
export const ROUTES_MAX = 1_000
/** How long a payment waits for the first bytes of the response, in milliseconds: a stream of events may begin later. */
export const FIRST_BYTES_MS = 1_000
