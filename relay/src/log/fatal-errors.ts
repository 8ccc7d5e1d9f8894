// Errors that nothing handles. Nobody knows what they leave behind, so the process says so, lets its visitors finish and
// ends, for its supervisor to start it again.

import { FATAL_DEADLINE_MS, FATAL_ERRORS_MAX } from '../limits.ts'
import type { Logger } from './log.ts'

/** EX_SOFTWARE of sysexits.h, so that a supervisor can tell it from a setting that cannot be (1, 2). */
const EXIT_CODE = 70

export interface FatalOptions {
  /** The log of this moment. */
  log: () => Logger
  /** Closes the listeners and lets the visitors finish. */
  leave: () => Promise<void>
}

/** For the whole process, and for its whole life: both exceptions and promises that were rejected. */
export function leaveOnFatalErrors({ log, leave }: FatalOptions): void {
  let errors = 0
  const end = (): void => process.exit(EXIT_CODE)
  // Without a listener of their own, rejections come this way, too (`origin` tells).
  process.on('uncaughtException', (err, origin) => {
    errors += 1
    log().fatal({ err, origin }, 'an error that nothing handles: this process leaves')
    if (errors >= FATAL_ERRORS_MAX) end()
    if (errors > 1) return
    setTimeout(end, FATAL_DEADLINE_MS)
    leave().then(end, (error) => {
      log().fatal({ err: error }, 'and does not leave in order')
      end()
    })
  })
  // What is written there is for whoever looks; that nobody does is no reason to end.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
}
