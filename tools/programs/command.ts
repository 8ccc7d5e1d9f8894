// Runs one command of the repository: bounded in time, its whole process group ended with it.
import { spawn } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import path from 'node:path'

export const root: string = path.resolve(import.meta.dirname, '../..')

/** Milliseconds from SIGTERM to SIGKILL. */
const KILL_DELAY_MS = 5_000

/** What sends a signal to the process group of each command that runs. */
const running = new Set<(signal: NodeJS.Signals) => void>()

export interface CommandOptions {
  timeoutMs: number
  /** Keeps the output for later instead of showing it as it comes. */
  quiet?: boolean
  env?: Record<string, string>
  /**
   * The working directory.
   * @default the repository
   */
  cwd?: string
  /** Gives it the processor time that no other program wants. */
  isBackground?: boolean
}

export interface Outcome {
  ok: boolean
  /** The output of a quiet command, and the reason for its end if that was not its own doing. */
  output: string
}

export function runCommand([command = '', ...args]: string[], options: CommandOptions): Promise<Outcome> {
  const child = spawn(command, args, {
    cwd: options.cwd ?? root,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', options.quiet ? 'pipe' : 'inherit', options.quiet ? 'pipe' : 'inherit'],
    detached: true,
  })
  // What it starts inherits that.
  if (options.isBackground && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW)
  let output = ''
  const keep = (chunk: Buffer): void => {
    output += chunk
  }
  child.stdout?.on('data', keep)
  child.stderr?.on('data', keep)

  const endGroup = (signal: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal)
    } catch {
      // The group is gone already.
    }
  }
  let killTimer: NodeJS.Timeout | undefined
  const timer = setTimeout(() => {
    output += `\n${command} took more than ${options.timeoutMs / 1000} s and was ended\n`
    endGroup('SIGTERM')
    killTimer = setTimeout(() => endGroup('SIGKILL'), KILL_DELAY_MS)
  }, options.timeoutMs)
  if (running.size === 0) process.on('SIGINT', interrupted).on('SIGTERM', interrupted)
  running.add(endGroup)

  return new Promise((resolve) => {
    const finish = (ok: boolean, reason = ''): void => {
      clearTimeout(timer)
      clearTimeout(killTimer)
      running.delete(endGroup)
      if (running.size === 0) process.off('SIGINT', interrupted).off('SIGTERM', interrupted)
      resolve({ ok, output: output + reason })
    }
    child.on('error', (error) => finish(false, `${command} cannot run: ${error.message}`))
    child.on('close', (code) => finish(code === 0))
  })
}

function interrupted(signal: NodeJS.Signals): void {
  for (const endGroup of running) endGroup(signal)
  process.exit(1)
}
