// Says how long a test waits for what has to come.

/** Ends what hangs, in milliseconds: on the slowest machine, what comes has come long before. */
export const SOON: { timeout: number } = { timeout: 20_000 }
