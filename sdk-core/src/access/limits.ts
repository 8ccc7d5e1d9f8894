// The limits of access, each with its unit and reason.

/** The largest form or JSON of a sign-in, in bytes: a user name, a password and a path. */
export const BODY_MAX_BYTES: number = 16 * 1024
/** The longest password and user name, in characters: no person has a longer one, and each costs a hash. */
export const PASSWORD_MAX_CHARS = 1024
/** The shortest token for programs, in characters: a shorter one can be guessed. */
export const TOKEN_MIN_CHARS = 16
/** The guesses of each network in a burst, and per second after it: a person mistypes a few times. */
export const NETWORK_GUESSES_BURST = 10
export const NETWORK_GUESSES_PER_S: number = 1 / 6
/**
 * The guesses of all networks together in a burst, and per second after it, so that many addresses guess no faster than that. Networks
 * from which somebody signed in before have the same once more, for themselves.
 */
export const TOTAL_GUESSES_BURST = 20
export const TOTAL_GUESSES_PER_S = 1
/** The most networks whose guesses are counted: 2 MB. Beyond that, the one that guessed longest ago is forgotten. */
export const NETWORKS_MAX = 10_000
/** The most networks remembered because somebody signed in from there. */
export const KNOWN_NETWORKS_MAX = 1_000
/** The most right `Authorization` fields that are remembered, so that a program costs one check and not one for each request. */
export const REMEMBERED_MAX = 1_000
/** How long a visitor who sends nothing keeps a place among `maxVisitors`, in milliseconds: a person reads a page. */
export const VISITOR_IDLE_MS: number = 5 * 60_000
/** The most visitors whose rates are measured: 2 MB. Beyond that, the one that was here longest ago is forgotten. */
export const RATED_VISITORS_MAX = 10_000
/** The seconds after which a visitor of a full site may try again. */
export const FULL_RETRY_S = 30
/** The most share links of a site at once. */
export const SHARES_MAX = 1_000
