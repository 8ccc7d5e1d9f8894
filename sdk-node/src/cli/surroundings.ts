// The parts of a process that a command uses.

import type { Print } from './report/report.ts'
import type { Keyboard } from './tui/keyboard.ts'
import type { Terminal } from './tui/screen.ts'

/** The parts of a process that the caller of a command provides. */
export interface Surroundings {
  env: NodeJS.ProcessEnv
  /** Prints lines of standard output and standard error. */
  print: Print
  /** The terminal of the live view; undefined when there is none. */
  terminal: Terminal | undefined
  /** The keyboard of the live view; undefined when there is none. */
  readonly keyboard?: Keyboard | undefined
  /**
   * Called when something runs that needs a clean end.
   * @param goesOn whether it continues without its terminal and without a reader of its output
   * @returns a signal that aborts when the command is asked to end
   */
  asked(goesOn?: boolean): AbortSignal
}
