// Holds the bounds of a user's DNS command.

/** How long one call of the command may take. Some providers take half a minute for a change. */
export const COMMAND_TIMEOUT_MS = 120_000
/** From SIGTERM to SIGKILL, for the command and what it started. */
export const COMMAND_KILL_DELAY_MS = 1_000
/** How long output is still read that child processes of an ended command hold open. */
export const COMMAND_CLOSE_DELAY_MS = 500
/** Bytes of each output that are kept. The rest is read, so that the command never waits, and dropped. */
export const COMMAND_OUTPUT_MAX_BYTES: number = 16 * 1024
/** UTF-16 code units of a line of output in an error or a state. */
export const COMMAND_LINE_MAX_CHARS = 300
