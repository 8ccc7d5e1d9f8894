// The command `svc`, with a home of its own: in this process, or as a process of its own where that is what is tested.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { programFile } from '../../../tools/bundler/programs.ts'
import { runCommand } from '../../src/cli/run-command.ts'
import { V8_FLAGS } from '../../src/cli/v8-flags.ts'

export const MAIN: string = join(import.meta.dirname, '../../src/cli/main.ts')

export interface Run {
  /** Lines so far. */
  out: string[]
  err: string[]
  /** The exit code. */
  ended: Promise<number>
  /** Ends it as Ctrl-C does. */
  interrupt(): void
  /** Ends it even when it does not answer. */
  stop(): Promise<unknown>
}

export interface ProcessRun extends Run {
  child: ChildProcess
}

/** @returns the environment of a user's shell, without the settings of the user who runs the tests */
export function environment(home: string, env: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { SVC_URL: _url, IDENTITY_PATH: _path, ...inherited } = process.env
  return { ...inherited, XDG_CONFIG_HOME: home, ...env }
}

/** Runs the command in this process: relative paths are relative to the folder of this one. */
export function runHere(home: string, args: string[], env: Record<string, string> = {}): Run {
  const out: string[] = []
  const err: string[] = []
  const controller = new AbortController()
  const ended = runCommand(args, {
    env: environment(home, env),
    print: {
      log: (text: string) => void out.push(...text.split('\n')),
      error: (text: string) => void err.push(...text.split('\n')),
    },
    terminal: undefined,
    asked: () => controller.signal,
  })
  const interrupt = (): void => controller.abort()
  const stop = async (): Promise<unknown> => {
    interrupt()
    return ended
  }
  return { out, err, ended, interrupt, stop }
}

/** Runs the command as a process. It has its V8 flags, and so does not start Node again. */
export function runSvc(home: string, args: string[], env: Record<string, string> = {}): ProcessRun {
  const child = spawn(process.execPath, [...V8_FLAGS, programFile('svc'), ...args], {
    cwd: home,
    env: environment(home, env),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const out: string[] = []
  const err: string[] = []
  createInterface(child.stdout).on('line', (line) => out.push(line))
  createInterface(child.stderr).on('line', (line) => err.push(line))
  const ended = once(child, 'close').then(([code]) => code as number)
  const stop = async (): Promise<unknown> => {
    child.kill('SIGKILL')
    return ended
  }
  return { child, out, err, ended, interrupt: () => void child.kill('SIGINT'), stop }
}

/** @returns the first report of `event`, which `--json` prints */
export async function reported({ out, err, ended }: Run, event: string): Promise<Record<string, string>> {
  const find = () => out.map((line) => JSON.parse(line)).find((report) => report.event === event)
  const over = ended.then((code) => `it ended with ${code}: ${[...out, ...err].join('\n')}`)
  while (!find()) {
    const why = await Promise.race([over, new Promise<void>((resolve) => setTimeout(resolve, 20))])
    if (why && !find()) throw new Error(why)
  }
  return find()
}
