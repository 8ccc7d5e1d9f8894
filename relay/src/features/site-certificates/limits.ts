// Holds the limits of the sites' certificates that come from an ACME authority, each with its unit and reason.

/**
 * Sites' orders that run at the same time. An order mostly waits, and authorities limit the requests of an account:
 * Let's Encrypt allows 300 orders in three hours.
 */
export const SITE_ORDERS_AT_ONCE = 4
/** Sites of all networks that wait for their order. An order takes seconds, so that more sites would wait for hours. */
export const SITE_ORDERS_WAITING_MAX = 1_024
/** The same for one network. */
export const SITE_ORDERS_WAITING_PER_NETWORK_MAX = 64
/** Shortest and longest time after which a site asks again during its order, in seconds. */
export const SITE_ORDER_POLL_MIN_S = 1
export const SITE_ORDER_POLL_MAX_S = 30
/** The time after which a site asks again, as a share of the time that it has waited. */
export const SITE_ORDER_POLL_SHARE = 0.25
/** Time after which a site asks again while another machine makes its order, in seconds. */
export const SITE_ORDER_ELSEWHERE_POLL_S = 2
/** Time for which the relay remembers that another machine makes an order, in milliseconds. Most of them take seconds. */
export const SITE_ORDER_ELSEWHERE_MS: number = 10 * 60_000
/** Orders of other machines that the relay remembers. It forgets the oldest first. */
export const SITE_ORDERS_ELSEWHERE_MAX = 4_096
/** Time after a failed order before the site's next one, in milliseconds, when the error gives none. */
export const SITE_ORDER_RETRY_MS = 60_000
/** Longest such time, in milliseconds, whatever the error says. */
export const SITE_ORDER_RETRY_MAX_MS: number = 12 * 60 * 60_000
/** Failed orders that the relay remembers. It forgets the oldest first. */
export const SITE_FAILURES_MAX = 1_024
/** Chains that the relay keeps. It first drops that of the site that was away longest. */
export const SITE_CHAINS_MAX = 10_000
/** Size of one kept chain, in bytes. Public authorities issue 3 to 6 KB. */
export const SITE_CHAIN_MAX_BYTES: number = 64 * 1024
/** Chains that could not be written and that the relay keeps in memory. */
export const SITE_CHAINS_UNWRITTEN_MAX = 256
/** Absence after which a site loses its kept chain, in milliseconds. */
export const SITE_AWAY_MAX_MS: number = 30 * 24 * 60 * 60_000
/** Interval at which the relay drops such chains, and updates the file times of present sites, in milliseconds. */
export const SITE_SWEEP_INTERVAL_MS: number = 6 * 60 * 60_000
/**
 * Remaining share of a kept chain's validity at which the relay orders the next one. SDKs ask at a third; the margin
 * covers clock differences and the whole seconds of Date fields.
 */
export const SITE_RENEWAL_SHARE = 0.35
/** Files of kept chains that a start reads concurrently. */
export const SITE_CHAINS_READ_AT_ONCE = 16
/** Validity of a certificate of the development CA in days. It reserves the site's name for as long. SDKs renew it. */
export const DEVELOPMENT_SITE_DAYS = 1
