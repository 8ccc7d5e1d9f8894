// Clients that are a program: started, fed, read, and ended.

import { type ChildProcess, type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process'
import type { Exchange } from './client.ts'
import { lastBodyDigest } from './http.ts'

interface Line {
  after: string
  input: string | Uint8Array
}

export interface ProgramOptions {
  env?: Record<string, string>
  /** Written to its standard input, which then stays open: its end would end some clients. */
  input?: Uint8Array
  /** More input, each piece once this was printed, after what came before. */
  talk?: Line[]
}

/** The outcome is what it printed, once it ended by itself. */
export function runProgram(command: string, args: string[], options: ProgramOptions = {}): Exchange {
  // A group of its own: what it starts ends with it.
  const child = spawn(command, args, { env: { ...process.env, ...options.env }, detached: true })
  const leave = () => endGroup(child)
  process.once('exit', leave)
  const printed: Buffer[] = []
  let log = ''
  child.stdout.on('data', (chunk: Buffer) => printed.push(chunk))
  child.stderr.on('data', (chunk) => (log += chunk))
  if (options.talk !== undefined) converse(child, options.talk)
  // A client that ended early says why on its standard error.
  child.stdin.on('error', () => {})
  if (options.input !== undefined) child.stdin.write(options.input)
  return {
    outcome: new Promise((resolve, reject) => {
      child.on('error', reject)
      child.on('close', () => {
        process.off('exit', leave)
        const output = Buffer.concat(printed)
        const shown = `${log}${output.toString('latin1', 0, LOG_BYTES)}`.replace(/[^\n\x20-\x7e]/g, '.')
        resolve({ sha256: lastBodyDigest(output), log: shown })
      })
    }),
    leave,
  }
}

/** A process that leads its group, with all that it started. */
export function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // It is gone already.
  }
}

function converse(child: ChildProcessWithoutNullStreams, lines: Line[]): void {
  const waiting = [...lines]
  let heard = ''
  const hear = (chunk: Buffer) => {
    heard += chunk.toString('latin1')
    const next = waiting[0]
    if (next === undefined || !heard.includes(next.after)) return
    heard = ''
    child.stdin.write(waiting.shift()!.input)
  }
  child.stdout.on('data', hear)
  child.stderr.on('data', hear)
}

/** Of what it printed, for a person to read. */
const LOG_BYTES: number = 4 * 1024
/** What a client says about itself, in milliseconds. */
const ASK_TIMEOUT_MS = 60_000

/** What a command prints, standard error included, whatever its exit code; undefined when there is no such command. */
export function ask(command: string, ...args: string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(command, args, { timeout: ASK_TIMEOUT_MS }, (error, stdout, stderr) => {
      resolve(error !== null && error.code === 'ENOENT' ? undefined : stdout + stderr)
    })
  })
}

/** A version such as 3.0.19 or 17.0.15 is at least this one. */
export function atLeast(version: string, wanted: string): boolean {
  const [have, want] = [version, wanted].map((one) => one.split('.').map(Number))
  for (const [i, number] of want!.entries()) if ((have![i] ?? 0) !== number) return (have![i] ?? 0) > number
  return true
}
