// The executable `svc` as a process of its own, with a home of its own.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export const MAIN = join(import.meta.dirname, '../../src/cli/main.ts')

export interface Run {
  child: ChildProcess
  /** Lines so far. */
  out: string[]
  err: string[]
  /** The exit code. */
  ended: Promise<number>
}

/** @returns the environment of a user's shell, without the settings of the user who runs the tests */
export function environment(home: string, env: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { SVC_URL: _url, IDENTITY_PATH: _path, ...inherited } = process.env
  return { ...inherited, XDG_CONFIG_HOME: home, ...env }
}

export function runSvc(home: string, args: string[], env: Record<string, string> = {}): Run {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: home,
    env: environment(home, env),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const out: string[] = []
  const err: string[] = []
  createInterface(child.stdout).on('line', (line) => out.push(line))
  createInterface(child.stderr).on('line', (line) => err.push(line))
  const ended = once(child, 'close').then(([code]) => code as number)
  return { child, out, err, ended }
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
