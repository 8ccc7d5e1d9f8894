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
