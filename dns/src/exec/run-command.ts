// Runs a user's DNS command: bounded in time and output.

import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import {
  COMMAND_CLOSE_DELAY_MS,
  COMMAND_KILL_DELAY_MS,
  COMMAND_OUTPUT_MAX_BYTES,
  COMMAND_TIMEOUT_MS,
} from './limits.ts'

export interface CommandOutcome {
  /** undefined: the command was ended by a signal. */
  exitCode: number | undefined
  /** Whether it was ended here, because it took too long or its caller gave up. */
  isEnded: boolean
  /** The beginning of each output. */
  stdout: string
  stderr: string
}

export interface CommandCall {
  path: string
  args: readonly string[]
  env: NodeJS.ProcessEnv
  signal: AbortSignal
  /** @default 2 minutes */
  timeoutMs?: number | undefined
}

/** @throws Error of the system when the command cannot be started */
export async function runCommand({
  path,
  args,
  env,
  signal,
  timeoutMs = COMMAND_TIMEOUT_MS,
}: CommandCall): Promise<CommandOutcome> {
  const child = spawn(path, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  const outputs = [beginningOf(child.stdout), beginningOf(child.stderr)] as const
  let isEnded = false
  let killTimer: NodeJS.Timeout | undefined
  const end = (): void => {
    if (isEnded) return
    isEnded = true
    endGroup(child, 'SIGTERM')
    killTimer = setTimeout(() => endGroup(child, 'SIGKILL'), COMMAND_KILL_DELAY_MS)
  }
  const timer = setTimeout(end, timeoutMs)
  if (signal.aborted) end()
  signal.addEventListener('abort', end, { once: true })
  try {
    const exitCode = await exitOf(child)
    const [stdout, stderr] = await Promise.all(outputs.map((output) => output.text()))
    return { exitCode, isEnded, stdout: stdout!, stderr: stderr! }
  } finally {
    clearTimeout(timer)
    clearTimeout(killTimer)
    signal.removeEventListener('abort', end)
    // Its child processes must not outlive the command.
    endGroup(child, 'SIGKILL')
  }
}

function exitOf(child: ChildProcess): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? undefined))
  })
}

/** Reads everything, but keeps only the beginning. */
function beginningOf(output: Readable): { text(): Promise<string> } {
  const chunks: Buffer[] = []
  let room = COMMAND_OUTPUT_MAX_BYTES
  output.on('data', (chunk: Buffer) => {
    if (room === 0) return
    const part = chunk.subarray(0, room)
    room -= part.length
    chunks.push(part)
  })
  const closed = new Promise<void>((resolve) => output.once('close', resolve))
  return {
    text: async () => {
      // A child process of the command may hold its output open.
      const timer = setTimeout(() => output.destroy(), COMMAND_CLOSE_DELAY_MS)
      await closed
      clearTimeout(timer)
      return Buffer.concat(chunks).toString('utf8')
    },
  }
}

/** Ends the command and what it started. */
function endGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal)
  } catch {
    // The process group is gone already.
  }
}
