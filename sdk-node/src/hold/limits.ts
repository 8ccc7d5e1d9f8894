// The bounds of what is kept for a target that is down. All of it is in memory.

/** The most bytes that are kept, heads included. */
export const HELD_MAX_BYTES: number = 64 * 1024 * 1024
/** The most of them for one network: one of the largest webhooks, and some of usual size. */
export const HELD_SHARE_BYTES: number = 32 * 1024 * 1024
/** The most requests that are kept. */
export const HELD_MAX = 1_000
/** The most of them for one network. */
export const HELD_SHARE = 250
/** The most bytes of one body: the largest webhook, GitHub's. */
export const HELD_BODY_MAX_BYTES: number = 25 * 1024 * 1024
/** How often a target that is down is asked, in milliseconds. */
export const RETRY_MS = 500
/** How long the target may take for the answer to a kept request, in milliseconds: then the next one is delivered. */
export const DELIVERY_MAX_MS = 60_000
/**
 * How long the others wait for an answer of the target, in milliseconds: then the network of that request waits apart. It is longer
 * than receivers of webhooks should take.
 */
export const SLOW_MS = 2_000
/** The most bytes of an answer that nobody waits for, which are read so that the target can send it. */
export const UNREAD_ANSWER_MAX_BYTES: number = 1024 * 1024
/** When visitors whose request is not kept may come again, in seconds. */
export const RETRY_AFTER_S = 10
