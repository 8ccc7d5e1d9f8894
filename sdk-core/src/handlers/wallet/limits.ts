// The limits of sign-in by wallets, each with its unit and reason.

/** A session lasts this long: a working day, and the visitor need not sign in twice on it. */
export const SESSION_MS: number = 24 * 60 * 60_000
/** A challenge may be answered for this long: a person reads the message, and confirms it in a wallet. */
export const CHALLENGE_MS: number = 2 * 60_000
/**
 * The challenges that a handler issues in a second, and at once. A challenge is kept nowhere and costs one HMAC, so that a flood
 * shuts nobody out for longer than it lasts.
 */
export const CHALLENGES_PER_S = 100
export const CHALLENGES_BURST = 200
/** The signatures that a handler checks in a second, and at once: one takes 3 ms of the page's thread. */
export const CHECKS_PER_S = 20
export const CHECKS_BURST = 50
/** The challenges that are remembered as used: more than visitors, listed or not, can have checked while a challenge lives. */
export const USED_CHALLENGES_MAX: number = 4 * (CHECKS_BURST + (CHECKS_PER_S * CHALLENGE_MS) / 1000)
/**
 * The sign-outs of each wallet that are remembered: more than a person has in a day. When there are more, all sessions of that wallet
 * end that are as old as the first of them.
 */
export const SIGN_OUTS_MAX = 100
/** The bytes that the body of a request to the sign-in may have. A contract wallet's signature has up to a few kilobytes. */
export const BODY_MAX_BYTES: number = 16 * 1024
/** A question to the RPC endpoint may take this long: a person waits for it. */
export const RPC_DEADLINE_MS = 5_000
/** The bytes that the endpoint's answer may have. One about a signature has some 120. */
export const RPC_ANSWER_MAX_BYTES: number = 8 * 1024
/** The questions that may be under way at once. */
export const RPC_QUESTIONS_MAX = 8
/** The bytes that a key has at least: the output of SHA-256 (RFC 2104 §3). */
export const KEY_MIN_BYTES = 32
