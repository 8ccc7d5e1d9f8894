// `svc completion SHELL`: a script by which a shell completes the commands and options of svc.

import { bashCompletion } from './bash.ts'
import { fishCompletion } from './fish.ts'
import { completedCommands } from './model.ts'
import { powershellCompletion } from './powershell.ts'
import type { Shell } from './shells.ts'
import { zshCompletion } from './zsh.ts'

const SCRIPTS = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
  powershell: powershellCompletion,
} satisfies Record<Shell, unknown>

/** Returns the script for a shell, without its last line end. */
export function completionScript(shell: Shell): string {
  return SCRIPTS[shell](completedCommands()).trimEnd()
}
