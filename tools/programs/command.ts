// Runs one command of the repository: bounded in time, its whole process group ended with it.
import { spawn } from 'node:child_process'
import path from 'node:path'

export const root: string = path.resolve(import.meta.dirname, '../..')

/** Milliseconds from SIGTERM to SIGKILL. */
const KILL_DELAY_MS = 5_000

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
  const interrupted = (signal: NodeJS.Signals): void => {
    endGroup(signal)
    process.exit(1)
  }
  let killTimer: NodeJS.Timeout | undefined
  const timer = setTimeout(() => {
    output += `\n${command} took more than ${options.timeoutMs / 1000} s and was ended\n`
    endGroup('SIGTERM')
    killTimer = setTimeout(() => endGroup('SIGKILL'), KILL_DELAY_MS)
  }, options.timeoutMs)
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted)

  return new Promise((resolve) => {
    const finish = (ok: boolean, reason = ''): void => {
      clearTimeout(timer)
      clearTimeout(killTimer)
      process.off('SIGINT', interrupted).off('SIGTERM', interrupted)
      resolve({ ok, output: output + reason })
    }
    child.on('error', (error) => finish(false, `${command} cannot run: ${error.message}`))
    child.on('close', (code) => finish(code === 0))
  })
}
