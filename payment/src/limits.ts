// The limits of payments, of a facilitator's memory, and of untrusted input.

/** Seconds within which a payment settles after the facilitator first saw it. Source: the scheme's `maxTimeoutSeconds`. */
export const PAYMENT_SECONDS = 60

/** How far a payer's clock may be ahead of ours, in milliseconds. */
export const CLOCK_SKEW_MS = 5_000

/**
 * The smallest payment, in units of a stablecoin: 0.01 of a coin with six decimals. The chain executes no smaller
 * transfer without gas. Source: the chain's documentation, "Gasless stablecoin transfers".
 */
export const MINIMUM_AMOUNT = 10_000n

/** The largest amount of the chain's coins: 64 bits. */
export const MAXIMUM_AMOUNT: bigint = 2n ** 64n - 1n

/** The interval between checks of payments without an outcome, in milliseconds, and how many each check handles. */
export const OPEN_CHECK_MS = 60_000
export const OPEN_CHECK_RECORDS = 64

/** Characters of a transaction in Base64. A payment has about 500; this leaves room for long type names. */
export const MAX_TRANSACTION_LENGTH = 4_096

/** Characters of a signature in Base64. The longest, of several signers with zkLogin, have a few thousand. */
export const MAX_SIGNATURE_LENGTH = 8_192

/** Bytes of an address of a resource that the journal keeps. */
export const MAX_RESOURCE_LENGTH = 2_048

/** The most payments that one facilitator processes concurrently; further ones are refused with `busy`. */
export const MAX_IN_FLIGHT = 128

/** The most payments whose first-seen time a facilitator remembers, for {@link PAYMENT_SECONDS}; the oldest is forgotten first. */
export const MAX_REMEMBERED = 16_384

/** The most payments in the journal: successful ones, and all others. The oldest are dropped first. */
export const MAX_SETTLED_RECORDS = 16_384
export const MAX_OTHER_RECORDS = 1_024

/** The size at which the journal's file is compacted, in characters. */
export const MAX_JOURNAL_LENGTH = 33_554_432

/** The deadlines for a full node to answer a request, and to execute a payment, in milliseconds. */
export const NODE_ANSWER_MS = 5_000
export const NODE_EXECUTE_MS = 15_000

/** How long a full node that did not answer is tried last, in milliseconds. */
export const NODE_AVOIDED_MS = 30_000

/** How long another full node has to learn of a payment that the first one reports as executed, in milliseconds. */
export const CONFIRM_MS = 6_000
export const CONFIRM_INTERVAL_MS = 250

/** Bytes of an answer of a full node. */
export const MAX_NODE_ANSWER_BYTES = 1_048_576

/** Full nodes that a facilitator takes. */
export const MAX_ENDPOINTS = 8

/** The most coins that one transaction moves into the sender's address balance. */
export const MAX_GATHERED_COINS = 64

/** The deadline of a remote facilitator's answer, in milliseconds: more than its nodes have for a payment. */
export const FACILITATOR_ANSWER_MS = 45_000

/** Bytes of an answer of a facilitator at a URL. */
export const MAX_FACILITATOR_ANSWER_BYTES = 65_536
