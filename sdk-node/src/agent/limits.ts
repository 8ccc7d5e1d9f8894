// The limits of the control API, each with its unit and reason.

/** The largest body of a request, in bytes: far more than the fields of one tunnel. */
export const BODY_MAX_BYTES: number = 64 * 1024
/** The deadline of a request's head, in milliseconds. */
export const HEAD_DEADLINE_MS = 5_000
/** The deadline of a whole request, in milliseconds. A change of svc.toml takes a few. */
export const REQUEST_DEADLINE_MS = 10_000
/** The interval at which Node checks these deadlines, in milliseconds. Its default of 30 s is longer than they are. */
export const DEADLINE_CHECK_MS = 1_000
/** The most concurrent connections: a page, a terminal's live view, and commands. */
export const CONNECTIONS_MAX = 64
/** The deadline of the agent's answer to `svc agent`, in milliseconds: it answers at once, unless it is stopped. */
export const ANSWER_DEADLINE_MS = 5_000

/** The life of a wallet's challenge, in milliseconds: two minutes, as at a relay. */
export const CHALLENGE_TTL_MS: number = 2 * 60_000
/** The most remembered used challenges. */
export const USED_CHALLENGES_MAX = 1024
/** The life of a sign-in, in milliseconds. */
export const SIGN_IN_TTL_MS: number = 24 * 60 * 60_000
/** The most sign-ins of each role: one more ends the oldest of that role. */
export const SIGN_INS_MAX = 64
/** The life of a page's ticket, in milliseconds. */
export const TICKET_TTL_MS = 60_000
/** The most tickets: one more invalidates the oldest. */
export const TICKETS_MAX = 16

/** The size at which the log file is rotated, in bytes. One rotated file is kept. */
export const LOG_FILE_MAX_BYTES: number = 1024 * 1024
/** The most bytes of log lines that wait for the disk; further lines are counted and dropped. */
export const LOG_WAITING_MAX_BYTES: number = 256 * 1024
/** The longest log line, in characters: a message may quote a relay. */
export const LOG_LINE_MAX_CHARS = 4096
/** The most log lines in one answer. */
export const LOG_LINES_MAX = 1000
/** The default number of log lines. */
export const LOG_LINES_DEFAULT = 100
