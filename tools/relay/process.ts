// Runs the relay as a child process: starts it, waits until it listens, and stops it by its process id.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { V8_FLAGS } from '../../relay/src/core/config/v8-flags.ts'
import { programFile } from '../bundler/programs.ts'
import { root } from '../programs/command.ts'

/** Milliseconds from the start of the process until it listens: they end what hangs, for a busy machine takes many seconds. */
const START_TIMEOUT_MS = 60_000
/** Milliseconds from the signals that ask it to end to SIGKILL, which ends what hangs. */
const STOP_TIMEOUT_MS = 30_000

/** Settings for a relay whose sites and visitors are all on this machine: they share one address, and its rate limits. */
export const BUDGETS_OF_MANY = {
  SOURCE_BUDGET_PER_MINUTE: '1000000',
  RELAY_BUDGET_PER_MINUTE: '1000000',
} as const

/** Option of Node for the relay of a test that is not about an overload. */
export const NEVER_OVERLOADED: string = `--import=${path.join(root, 'relay/test/support/never-overloaded.ts')}`
/** The same with the relay's V8 flags, so that the relay need not start Node again. */
export const WITHOUT_OVERLOAD: readonly string[] = [...V8_FLAGS, NEVER_OVERLOADED]

export interface RelayOptions {
  /** The relay's settings, beside this process's own environment. */
  env: Record<string, string>
  /**
   * The program that is the relay, with its arguments.
   * @default the checkout's, on this Node
   */
  program?: readonly string[]
  /**
   * The working directory.
   * @default the repository
   */
  cwd?: string
  /**
   * Milliseconds from the start of the process until it listens.
   * @default 60 seconds
   */
  startTimeoutMs?: number
  /** Arguments to Node itself. */
  execArgv?: string[]
  /** A program with its arguments that becomes the relay, such as `prlimit`. */
  through?: string[]
  /** Called with every line of the relay's log (JSON), and of its standard error once it runs. */
  onLog?: (line: string) => void
}

/** A line of the relay's log. */
export interface LogLine {
  msg?: string
  [field: string]: unknown
}

export interface RelayProcess {
  pid: number
  /** Settles when the process has ended, by whatever cause. */
  ended: Promise<void>
  /** The exit code; null while it runs, and when a signal ended it. */
  exitCode(): number | null
  stop(): Promise<void>
}

/** @throws Error with the relay's output when it ends, or stays silent, instead of listening */
export async function startRelay({
  env,
  execArgv = [],
  program = [process.execPath, ...execArgv, programFile('svc-relay')],
  cwd = root,
  startTimeoutMs = START_TIMEOUT_MS,
  through = [],
  onLog,
}: RelayOptions): Promise<RelayProcess> {
  const line = [...through, ...program]
  const child = spawn(line[0]!, line.slice(1), {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ctrl-C reaches the whole foreground group; the relay must outlive its sites, so that they can unregister.
    detached: true,
  })
  const killAtExit = (): void => void child.kill('SIGKILL')
  process.once('exit', killAtExit)
  const ended = once(child, 'exit').then(() => void process.off('exit', killAtExit))
  const stop = (): Promise<void> => stopProcess(child, ended)

  const complaints: string[] = []
  let isListening = false
  createInterface(child.stderr).on('line', (line) => {
    if (isListening) onLog?.(line)
    else complaints.push(line)
  })
  const listening = new Promise<true>((resolve) => {
    createInterface(child.stdout).on('line', (line) => {
      onLog?.(line)
      if (messageOf(line) !== 'listening') return
      isListening = true
      resolve(true)
    })
  })
  if (await Promise.race([listening, ended, elapsed(startTimeoutMs)]))
    return { pid: child.pid!, ended, exitCode: () => child.exitCode, stop }
  await stop()
  throw new Error(complaints.join('\n') || `the relay did not listen within ${startTimeoutMs / 1000} s`)
}

async function stopProcess(child: ChildProcess, ended: Promise<void>): Promise<void> {
  // One signal asks it to let its visitors finish, two do not. One signal may swallow another of its kind.
  child.kill('SIGTERM')
  child.kill('SIGINT')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
  await ended
  clearTimeout(timer)
}

function elapsed(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds).unref()
  })
}

/** The message of one line of a JSON log. */
function messageOf(line: string): unknown {
  try {
    return JSON.parse(line).msg
  } catch {
    return undefined
  }
}

/** @param line of the log, or of standard error, which then is the message */
export function parseLogLine(line: string): LogLine {
  try {
    return JSON.parse(line)
  } catch {
    return { msg: line }
  }
}
