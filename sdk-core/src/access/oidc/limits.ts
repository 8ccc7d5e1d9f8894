// The limits of OpenID Connect, each with its unit and reason.

/** The time that a sign-in may take at the issuer, in milliseconds: a person finds a password and a second factor. */
export const FLOW_MS: number = 10 * 60_000
/** The most sign-ins that one browser has begun: their cookies fit in a request. Beyond that, the oldest is forgotten. */
export const FLOWS_MAX = 8
/** The longest path and query to which a visitor returns, in characters, because each sign-in's cookie has it. Longer ones become `/`. */
export const NEXT_MAX_CHARS = 512
/** The most finished sign-ins that are remembered, so that none is finished twice: more than 10 minutes have. */
export const FINISHED_MAX = 10_000
/** The failed sign-ins of each network in a burst, and per second after it: each has cost a request to the issuer. */
export const NETWORK_FAILURES_BURST = 10
export const NETWORK_FAILURES_PER_S: number = 1 / 6
/** The most networks whose failures are counted: 2 MB. */
export const NETWORKS_MAX = 10_000
/** The most requests to the issuer that run at once: more wait for no honest issuer. */
export const RUNNING_MAX = 32
/** The most ID tokens that are kept for the sign-out, and the longest, in characters: 8 MB at most, and usually 1 MB. */
export const ID_TOKENS_MAX = 1_000
export const ID_TOKEN_MAX_CHARS = 8_000
/** The deadline of each answer of the issuer, in seconds. */
export const ISSUER_DEADLINE_S = 10
/** The difference between the clocks of the issuer and this site that is allowed, in seconds. */
export const CLOCK_TOLERANCE_S = 30
/** The longest subject, in characters (OpenID Connect Core §2). */
export const SUBJECT_MAX_CHARS = 255
/** The longest e-mail address, in characters (RFC 5321 §4.5.3.1.3). */
export const ADDRESS_MAX_CHARS = 254
/** The longest name that a session keeps, in characters; the rest is cut off. */
export const NAME_MAX_CHARS = 100
/** The most characters of all allowed groups together: a session's cookie has those of its visitor, and a browser takes 4 kB. */
export const GROUPS_MAX_CHARS = 1_000
/** The most entries of a list, and the longest, in characters. */
export const ENTRIES_MAX = 1_000
export const ENTRY_MAX_CHARS = 255
