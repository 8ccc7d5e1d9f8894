// The limits of knocking, each with its unit and reason.

/** The time for which a visitor waits, in milliseconds: who did not get an answer by then asks again, or does not. */
export const KNOCK_MS: number = 10 * 60_000
/** The time after which somebody who asks no more has left, in milliseconds: the page asks again after a second. */
export const LEAVE_MS = 10_000
/** The time for which a request of the waiting page is held, in milliseconds: less than proxies and browsers allow. */
export const HOLD_MS = 20_000
/** The longest wait for which a program can ask, in seconds. */
export const WAIT_MAX_S = 60
/** The pause before a page asks again, in seconds, and that of one for which there is no place. */
export const AGAIN_S = 1
export const CROWDED_AGAIN_S = 5
/** The most visitors who wait at once, and so the most held requests: a person can look through this many. */
export const WAITING_MAX = 16
/** The most of them from one network: a family or an office. */
export const NETWORK_WAITING_MAX = 3
/** The knocks of each network in a burst, and per second after it. */
export const NETWORK_KNOCKS_BURST = 4
export const NETWORK_KNOCKS_PER_S: number = 1 / 30
/** The same for each wide network, which one attacker may have: 16 bits of IPv4, or 32 of IPv6. It leaves places to others. */
export const WIDE_KNOCKS_BURST = 8
export const WIDE_KNOCKS_PER_S: number = 1 / 10
/** The same for all networks together, so that the owner can read them. Networks that were let in before have the same once more. */
export const TOTAL_KNOCKS_BURST = 16
export const TOTAL_KNOCKS_PER_S: number = 1 / 3
/** The most networks whose knocks are counted. Beyond that, the one that knocked longest ago is forgotten. */
export const NETWORKS_MAX = 10_000
/** The most answers of each kind that are remembered. Beyond that, the one that was used longest ago is forgotten. */
export const ANSWERS_MAX = 1_000
/** The longest shown path, in characters. */
export const PATH_MAX_CHARS = 200
/** The life of a ticket's cookie, in seconds: 400 days, the most that browsers take. The site forgets it much earlier, with its end. */
export const TICKET_MAX_AGE_S: number = 400 * 24 * 60 * 60
