// The limits of payments, of what a facilitator holds for them, and of what it takes from strangers.

/** Seconds within which a payment settles after the facilitator first saw it. Source: the scheme's `maxTimeoutSeconds`. */
export const PAYMENT_SECONDS = 60

/** Milliseconds that the clock of a payer may be ahead of ours. */
export const CLOCK_SKEW_MS = 5_000

/**
 * Units of a stablecoin that a payment has at least: 0.01 of a coin with six decimals. The chain executes no smaller
 * transfer without gas. Source: the chain's documentation, "Gasless stablecoin transfers".
 */
export const MINIMUM_AMOUNT = 10_000n

/** The largest amount of the chain's coins: 64 bits. */
export const MAXIMUM_AMOUNT: bigint = 2n ** 64n - 1n

/** Milliseconds between two looks at payments without an outcome, and how many of them each look takes. */
export const OPEN_CHECK_MS = 60_000
export const OPEN_CHECK_RECORDS = 64

/** Characters of a transaction in Base64. A payment has about 500; this leaves room for long type names. */
export const MAX_TRANSACTION_LENGTH = 4_096

/** Characters of a signature in Base64. The longest, of several signers with zkLogin, have a few thousand. */
export const MAX_SIGNATURE_LENGTH = 8_192

/** Bytes of an address of a resource that the journal keeps. */
export const MAX_RESOURCE_LENGTH = 2_048

/** Payments that one facilitator verifies, settles or prepares at once; a further one is refused with `busy`. */
export const MAX_IN_FLIGHT = 128

/** Payments whose first sight a facilitator remembers, for {@link PAYMENT_SECONDS}; the oldest is forgotten first. */
export const MAX_REMEMBERED = 16_384

/** Payments that the journal keeps: those that succeeded, and all others. The oldest go first. */
export const MAX_SETTLED_RECORDS = 16_384
export const MAX_OTHER_RECORDS = 1_024

/** Characters that the journal's file has at most before it is written anew with what is still kept. */
export const MAX_JOURNAL_LENGTH = 33_554_432

/** Milliseconds that a full node has to answer a question, and to carry a payment out. */
export const NODE_ANSWER_MS = 5_000
export const NODE_EXECUTE_MS = 15_000

/** Milliseconds for which a full node that did not answer is asked last. */
export const NODE_AVOIDED_MS = 30_000

/** Milliseconds that another full node has to learn of a payment that the first one says it carried out. */
export const CONFIRM_MS = 6_000
export const CONFIRM_INTERVAL_MS = 250

/** Bytes of an answer of a full node. */
export const MAX_NODE_ANSWER_BYTES = 1_048_576

/** Full nodes that a facilitator takes. */
export const MAX_ENDPOINTS = 8

/** Coins that one transaction gathers into the sender's address balance at most. */
export const MAX_GATHERED_COINS = 64

/** Milliseconds that a facilitator at a URL has for an answer: more than its nodes have for a payment. */
export const FACILITATOR_ANSWER_MS = 45_000

/** Bytes of an answer of a facilitator at a URL. */
export const MAX_FACILITATOR_ANSWER_BYTES = 65_536
