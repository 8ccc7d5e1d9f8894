// The relay's JSON log for a person at a terminal: only what is at least as severe as was asked for.

/** The levels as numbers in the log's lines; the start of a relay must be shown, so it never logs less than `info`. */
const LEVELS: Record<string, number> = {
  trace: 10,
  debug: 20,
  info: 30,
  warn: 40,
  error: 50,
  fatal: 60,
  silent: 99,
}
const INFO = 30

export interface LogPrinter {
  /** The level that the relay is to log at. */
  level: string
  print(line: string): void
}

export function printLog(level: string): LogPrinter {
  // An unknown level is passed on: the relay says what is wrong with it.
  const least = LEVELS[level] ?? 0
  return {
    level: least > INFO ? 'info' : level,
    print: (line) => {
      if (levelOf(line) >= least) console.log(line)
    },
  }
}

/** A line that is not of the log is always shown. */
function levelOf(line: string): number {
  try {
    const { level } = JSON.parse(line)
    return typeof level === 'number' ? level : Number.POSITIVE_INFINITY
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
