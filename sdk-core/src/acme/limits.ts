// The limits of the ACME client: of its requests, and those that the authority publishes, which it counts before it spends them.

/** The directory of Let's Encrypt, which allows cross-origin requests. */
export const DEFAULT_DIRECTORY = 'https://acme-v02.api.letsencrypt.org/directory'
/** The deadline of one request, in milliseconds. */
export const REQUEST_DEADLINE_MS = 30_000
/** The longest body of an answer, in bytes: chains are the longest. */
export const ANSWER_MAX_BYTES: number = 256 * 1024
/** The pauses before the client repeats a request that had no answer, or one with a status of 500 or more, in milliseconds. */
export const REQUEST_RETRY_MS: readonly number[] = [300, 1_500]
/** How often the client repeats a request whose nonce was refused: pebble refuses one of five. */
export const NONCE_ATTEMPTS_MAX = 8
/** The nonces that the client keeps for later requests. */
export const NONCES_MAX = 8
/** The first and the longest pause between two polls of an order, in milliseconds, unless the authority says how long. */
export const POLL_FIRST_MS = 100
export const POLL_MAX_MS = 3_000
/** The longest such pause that the authority may ask for. */
export const POLL_RETRY_AFTER_MAX_MS = 30_000
/** The deadline of a whole order, in milliseconds. */
export const ORDER_DEADLINE_MS: number = 5 * 60_000
/** The longest Retry-After that the client follows, in milliseconds: the longest window of the published limits. */
export const RETRY_AFTER_MAX_MS: number = 7 * 86_400_000
/** The pause after the first failed order of a domain, in milliseconds; each further one doubles it. */
export const BACKOFF_FIRST_MS = 60_000
/** The longest such pause, unless the authority asks for a longer one. */
export const BACKOFF_MAX_MS: number = 12 * 3_600_000
/** How often the client asks for renewal information (RFC 9773 §4.3 suggests six hours), in milliseconds. */
export const RENEWAL_ASK_MS: number = 6 * 3_600_000

/** A PublishedLimit allows `max` events within any window of `windowMs` milliseconds. */
export interface PublishedLimit {
  max: number
  windowMs: number
  /** What is limited, for messages. */
  what: string
}

/** Let's Encrypt's limits, of which the client leaves a part for other programs. Other authorities allow no less. */
export const LIMITS: Readonly<Record<'orders' | 'certificates' | 'failures' | 'attempts', PublishedLimit>> = {
  /** Of 300 for each account in 3 hours. */
  orders: { max: 100, windowMs: 3 * 3_600_000, what: 'orders of this account' },
  /** Of 5 for the same names in 7 days. */
  certificates: { max: 4, windowMs: 7 * 86_400_000, what: 'certificates for this domain' },
  /** Of 5 for each name in an hour. */
  failures: { max: 4, windowMs: 3_600_000, what: 'failed validations of this domain' },
  /** By the monotonic clock: the relay, whose clock counts for the others, must not be able to cause orders. */
  attempts: { max: 4, windowMs: 86_400_000, what: 'orders for this domain' },
}
