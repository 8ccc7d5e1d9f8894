// Runs git in the repository.
import { spawnSync } from 'node:child_process'
import { root } from '../../tools/programs/command.ts'

/**
 * @returns what git printed, without the last line feed
 * @throws Error with what git complained about
 */
export function git(...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync('git', args, { cwd: root, encoding: 'utf8' })
  if (error) throw new Error(`git cannot be run: ${error.message}`, { cause: error })
  if (status !== 0) throw new Error(`git ${args[0]}: ${stderr.trim() || `exit code ${status}`}`)
  return stdout.trim()
}
