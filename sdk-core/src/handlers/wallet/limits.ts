// The limits of sign-in by wallets, each with its unit and reason.

/** The life of a challenge: a person reads the message and confirms it in a wallet. */
export const CHALLENGE_MS: number = 2 * 60_000
/**
 * The challenges that a handler issues per second, and in a burst. A challenge is not stored and costs one HMAC, so a flood
 * locks nobody out for longer than it lasts.
 */
export const CHALLENGES_PER_S = 100
export const CHALLENGES_BURST = 200
/** The signatures that a handler checks per second, and in a burst: one takes 3 ms of the page's thread. */
export const CHECKS_PER_S = 20
export const CHECKS_BURST = 50
/** The most remembered used challenges: more than can be checked during the life of a challenge. */
export const USED_CHALLENGES_MAX: number = 4 * (CHECKS_BURST + (CHECKS_PER_S * CHALLENGE_MS) / 1000)
/** The largest body of a request to the sign-in, in bytes. A contract wallet's signature has up to a few kilobytes. */
export const BODY_MAX_BYTES: number = 16 * 1024
/** The deadline of a request to the RPC endpoint: a person waits for it. */
export const RPC_DEADLINE_MS = 5_000
/** The largest answer of the endpoint, in bytes. One about a signature has about 120. */
export const RPC_ANSWER_MAX_BYTES: number = 8 * 1024
/** The most concurrent requests to the endpoint. */
export const RPC_QUESTIONS_MAX = 8
/** The shortest key, in bytes: the output size of SHA-256 (RFC 2104 §3). */
export const KEY_MIN_BYTES = 32
