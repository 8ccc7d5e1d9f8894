// The parts of a process that a command uses.

import type { Print } from './report/report.ts'
import type { Keyboard } from './tui/keyboard.ts'
import type { Terminal } from './tui/screen.ts'

/** A caller provides these parts of a process to a command: `svc` those of its own. */
export interface Surroundings {
  env: NodeJS.ProcessEnv
  /** Prints lines of standard output and standard error. */
  print: Print
  /** The live view is shown there; undefined where nobody looks. */
  terminal: Terminal | undefined
  /** The keys of the live view come from there; undefined where nobody types. */
  readonly keyboard?: Keyboard | undefined
  /**
   * Called when something runs that has to be ended.
   * @param goesOn whether it goes on without its terminal and without a reader of its output
   * @returns a signal that aborts when the command is asked to end
   */
  asked(goesOn?: boolean): AbortSignal
}
