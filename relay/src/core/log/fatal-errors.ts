// Ends the process after an unhandled error: it logs the error, lets visitors finish and exits, so that its supervisor
// starts it again.

import type { Logger } from './log.ts'

/** After an unhandled error the process ends within this time, even if visitors have not finished. */
const FATAL_DEADLINE_MS = 15_000
/** With this many unhandled errors the process ends at once. */
const FATAL_ERRORS_MAX = 16

/** EX_SOFTWARE of sysexits.h, so that a supervisor can tell it from a wrong setting (1, 2). */
const EXIT_CODE = 70

export interface FatalOptions {
  /** Returns the current log. */
  log: () => Logger
  /** Closes the listeners and lets the visitors finish. */
  close: () => Promise<void>
}

/** Handles exceptions and rejected promises of the whole process until it ends. */
export function closeOnFatalErrors({ log, close }: FatalOptions): void {
  let errors = 0
  const end = (): void => process.exit(EXIT_CODE)
  // Rejected promises come here too, since they have no listener; `origin` names the kind.
  process.on('uncaughtException', (err, origin) => {
    errors += 1
    log().fatal({ err, origin }, 'an unhandled error ends this process')
    if (errors >= FATAL_ERRORS_MAX) end()
    if (errors > 1) return
    setTimeout(end, FATAL_DEADLINE_MS)
    close().then(end, (error) => {
      log().fatal({ err: error }, 'this process did not end in order')
      end()
    })
  })
  // A closed standard output is no reason to end.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
}
