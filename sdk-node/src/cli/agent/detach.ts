// `svc agent run`: starts the agent as a background process, and waits until it answers or fails.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { ownCommand } from '../own-command.ts'
import { EXIT, type ExitCode } from '../report/exit-codes.ts'
import type { Report, Reporter } from '../report/report.ts'

/** The option that marks the background process. */
const DETACHED_OPTION = '--detached'

/**
 * Resolves when the agent answers, or with the exit code of one that did not start.
 * @param args the arguments of `svc agent run`
 */
export async function runDetached(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  tell: Reporter,
): Promise<ExitCode> {
  const [program, ...before] = ownCommand()
  const child = spawn(
    program!,
    [...before, 'agent', 'run', '--foreground', DETACHED_OPTION, '--json', ...args],
    {
      env,
      detached: true,
      // Otherwise Windows opens a console window.
      windowsHide: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const complaints: string[] = []
  child.stderr!.on('data', (data) => complaints.push(String(data)))
  const started = firstReport(child)
  const ended = once(child, 'close').then(([code]) => (code ?? EXIT.failed) as ExitCode)
  const outcome = await Promise.race([started, ended])
  if (typeof outcome === 'object' && outcome.event === 'agent') {
    tell(outcome)
    child.stdout!.destroy()
    child.stderr!.destroy()
    child.unref()
    return EXIT.ok
  }
  const code = await ended
  const report = await Promise.race([started, undefined])
  const message = complaints.join('').trim() || `the agent ended with ${code}`
  tell(report ?? { event: 'failed', code: 'internal', message, exit_code: code })
  return code
}

/** Resolves with the first report of the process; never settles without one. */
async function firstReport(child: ChildProcess): Promise<Report> {
  const [line] = await once(createInterface(child.stdout!), 'line')
  return JSON.parse(line) as Report
}
