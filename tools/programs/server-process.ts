// Server programs of tests: none of them outlives the process that started it.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'

/** Starts a program as `spawn` does. The exit of this process kills it. */
export function spawnServer(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(command, args, options)
  const killAtExit = (): void => void child.kill('SIGKILL')
  process.once('exit', killAtExit)
  child.once('close', () => process.off('exit', killAtExit))
  return child
}

/** Whether it was started and has not ended. */
export function isRunning({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid !== undefined && exitCode === null && signalCode === null
}

/** Kills it; resolves when it has ended. */
export async function endServer(child: ChildProcess): Promise<void> {
  if (!isRunning(child)) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

/** Signals after which a server runs on; `SIGHUP` has it read its files again. */
const SURVIVED: ReadonlySet<NodeJS.Signals> = new Set(['SIGSTOP', 'SIGCONT', 'SIGHUP'])

/** Whether the signal ends a server, or begins its end. */
export function isFatal(signal: NodeJS.Signals): boolean {
  return !SURVIVED.has(signal)
}

/** Sends it a signal; resolves when it has ended, at once when the signal is not fatal. */
export async function signalServer(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (!isRunning(child)) return
  const ended = isFatal(signal) ? once(child, 'exit') : undefined
  child.kill(signal)
  await ended
}
