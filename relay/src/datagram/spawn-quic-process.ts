// Starts the QUIC process: without this process's environment, and with as few rights as Node can take from it.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('./quic-process.ts', import.meta.url))
/** What it imports of ours that is not beside it. */
const PACKAGES = ['@svc/protocol']

/** Its fourth descriptor is a pipe of both ways. What it prints of a crash appears where this process's own does. */
export function spawnQuicProcess(): ChildProcess {
  return spawn(process.execPath, [...restrictions(), MAIN], {
    env: {},
    cwd: '/',
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  })
}

/**
 * The permission model of Node: no file but code, no process, no thread, no inspector; from Node 25 on no network but
 * what the library opens itself. It binds JavaScript only: what has taken over the library itself is bound by the operating system.
 */
export function restrictions(): string[] {
  const readable = [packageDirectory(), ...dependencies()].map((path) => `--allow-fs-read=${path}`)
  // that the library is native code is known here
  return ['--permission', '--allow-addons', '--disable-warning=PERM0001', ...readable]
}

function packageDirectory(): string {
  const directory = ancestors().find((path) => existsSync(join(path, 'package.json')))
  return join(directory ?? dirname(MAIN), '/')
}

function dependencies(): string[] {
  const folders = ancestors().map((path) => join(path, 'node_modules', '/'))
  const packages = folders.flatMap((folder) => PACKAGES.map((name) => join(folder, name)))
  return [
    ...folders.filter((path) => existsSync(path)),
    ...packages.filter((path) => existsSync(path)).map((path) => join(realpathSync(path), '/')),
  ]
}

/** From the nearest up. */
function ancestors(): string[] {
  const paths = [dirname(MAIN)]
  for (;;) {
    const next = dirname(paths.at(-1)!)
    if (next === paths.at(-1)) return paths
    paths.push(next)
  }
}
