// The limits of paid routes, each with its unit and reason.

/** A payment has at most this many characters of Base64. A signed payment has some 1,500, one by several keys or zkLogin up to 8,000. */
export const PAYMENT_MAX_CHARS: number = 16 * 1024
/** The body of `POST /x402/prepare` may have this many bytes (the protocol's own limit). */
export const PREPARE_MAX_BYTES: number = 64 * 1024
/**
 * Milliseconds for which a payment that bought an answer is remembered. Its transaction has expired by then, clocks that
 * differ by minutes included, so that the facilitator refuses it.
 */
export const USED_FOR_MS: number = 10 * 60_000
/**
 * Payments that are remembered at once, in a process: a few megabytes. Each one that was settled cost its payer money. No
 * further payment is taken while this many are remembered.
 */
export const REMEMBERED_MAX = 10_000
/** Paid requests that are on their way at once, in a process: each waits for the facilitator, holds one response, and no body. */
export const SALES_AT_ONCE = 256
/** Transactions that are prepared at once, in a process: each costs the facilitator several questions to the chain. */
export const PREPARES_AT_ONCE = 32
/** The check of a payment may take this many milliseconds: the facilitator asks a full node, and another when that one hangs. */
export const VERIFY_DEADLINE_MS = 20_000
/** One attempt to settle may take this many milliseconds: the transaction has to be executed and found again. */
export const SETTLE_DEADLINE_MS = 30_000
/** A settlement with an unknown outcome is tried this many times in all. The same payment is never carried out twice. */
export const SETTLE_ATTEMPTS = 2
/** A path that may be read in more ways than this is refused. One that people or programs write has a handful. */
export const READINGS_MAX = 128
/** Paths that are taken from the fields of one request: a proxy sets one or two. */
export const NAMED_PATHS_MAX = 8
/**
 * The content of a request may have this many bytes where its method costs less than another one: it is read before the handler
 * runs, since it may name that other method. A form of text fields has a few thousand.
 */
export const JUDGED_CONTENT_MAX_BYTES: number = 64 * 1024
/** A path that may be read in several ways has at most this many characters: to judge it takes milliseconds. */
export const PATH_MAX_CHARS: number = 4 * 1024
/** A facilitator of the relay that could not be found is looked for again after this many milliseconds. */
export const FACILITATOR_RETRY_MS = 5_000
/** Routes of one site that may be paid: each request is compared with all. */
export const ROUTES_MAX = 1_000
/** A payment waits this many milliseconds for the first bytes of the response: a stream of events may begin later. */
export const FIRST_BYTES_MS = 1_000
