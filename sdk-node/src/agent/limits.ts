// The limits of the control API, each with its unit and reason.

/** Bytes of a request's body: the fields of one tunnel, with much room. */
export const BODY_MAX_BYTES: number = 64 * 1024
/** Milliseconds for the head of a request. */
export const HEAD_DEADLINE_MS = 5_000
/** Milliseconds for a whole request. A change of svc.toml takes a few. */
export const REQUEST_DEADLINE_MS = 10_000
/** Milliseconds between two looks at these deadlines. Node's own 30 s would make them longer than they are. */
export const DEADLINE_CHECK_MS = 1_000
/** Connections at once: a page, the live view of a terminal, and commands. */
export const CONNECTIONS_MAX = 64
/** Milliseconds in which the agent answers `svc agent`: it answers at once, unless it is stopped. */
export const ANSWER_DEADLINE_MS = 5_000

/** Milliseconds for which a wallet's challenge is good (specification, registration rules: two minutes). */
export const CHALLENGE_TTL_MS: number = 2 * 60_000
/** Challenges that were used within their two minutes and are remembered. */
export const USED_CHALLENGES_MAX = 1024
/** Milliseconds that a sign-in lasts. */
export const SIGN_IN_TTL_MS: number = 24 * 60 * 60_000
/** Sign-ins at once of each role: with one more, the oldest of that role is over. */
export const SIGN_INS_MAX = 64
/** Milliseconds for which a ticket of the page is good. */
export const TICKET_TTL_MS = 60_000
/** Tickets at once: with one more, the oldest is over. */
export const TICKETS_MAX = 16

/** Bytes of the log file, of which one more is kept when it is full. */
export const LOG_FILE_MAX_BYTES: number = 1024 * 1024
/** Bytes of log lines that wait for the disk; further ones are counted and left out. */
export const LOG_WAITING_MAX_BYTES: number = 256 * 1024
/** Characters of a log line: a message may quote what a relay said. */
export const LOG_LINE_MAX_CHARS = 4096
/** Lines of the log that one answer has. */
export const LOG_LINES_MAX = 1000
/** Lines of the log without a wish for more or fewer. */
export const LOG_LINES_DEFAULT = 100
