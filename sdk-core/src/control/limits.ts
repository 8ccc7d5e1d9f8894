// The limits of the control plane's client, each with its unit and reason. A page downloads less with them in one place.

import { CHALLENGE_TTL_S } from '@svc/protocol'

/**
 * The deadline of one request to the control plane, from connect to last byte: longer than the relay ever
 * needs, but shorter than a lease.
 */
export const CONTROL_DEADLINE_MS = 15_000
/** The largest answer of the control plane, in bytes. A certificate chain, the largest, has a few kilobytes. */
export const RESPONSE_MAX_BYTES: number = 256 * 1024
/** A longer `Retry-After` is reduced to this, since the site would look dead. */
export const RETRY_AFTER_MAX_MS: number = 5 * 60_000
/**
 * The time for which the SDK reuses a signed challenge when the relay asked it to wait: the challenge's life, less
 * the time to reach the relay.
 */
export const PROOF_REUSE_MS: number = (CHALLENGE_TTL_S - 20) * 1000
/** The deadline of a request to unregister. It may fail, since a lease expires anyway. */
export const UNREGISTER_DEADLINE_MS = 5_000
/** The longest token: that of a capability frame, because it must also fit into headers. */
export const ACCESS_TOKEN_MAX_CHARS = 8192
/** The number of endpoints that the SDK refuses before it gives up: a relay with gateways names the direct one last. */
export const ENDPOINTS_REFUSED_MAX = 4
/** The deadline of a request to `/v1/sign`: a later signature would miss the handshake's own deadline. */
export const SIGN_DEADLINE_MS = 8_000
/**
 * The pause before the SDK repeats a request for a signature when the connection broke: by then it has noticed other
 * connections that broke at the same moment.
 */
export const SIGN_RETRY_PAUSE_MS = 50
/** The pause before the SDK retries a failed renewal: six retries in the second half of the shortest usual lease. */
export const RENEWAL_RETRY_MS = 10_000
/**
 * The pause before the SDK retries a renewal without an answer, or up to half less at random: one connection, or one machine of the
 * relay, may be all that broke. Each further failure doubles it, up to {@link RENEWAL_RETRY_MS}.
 */
export const RENEWAL_RETRY_FIRST_MS = 1_000
/** The delay of the first renewal at a relay with discovery. It carries the statement by which other relays lead visitors there. */
export const STATEMENT_DELAY_MS = 500
/**
 * When a clock jumps by more than this, it was set or the machine slept. The SDK then renews the lease, and learns the
 * relay's time from it.
 */
export const CLOCK_LEAP_MS = 5_000
