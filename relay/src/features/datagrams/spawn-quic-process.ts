// Starts the QUIC process: without this process's environment, and with as few rights as Node can take from it.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { installation } from '../../core/installation.ts'

/** Our packages that the process imports. */
const PACKAGES = ['@svc/protocol', '@svc/node-kit']

/** Starts the process. Its fourth descriptor is a duplex pipe, and it shares standard error with this process. */
export function spawnQuicProcess(): ChildProcess {
  const { execArgv, module, args, env } = installation().process('quic-process', restrictions())
  return spawn(process.execPath, [...execArgv, module, ...args], {
    env,
    cwd: '/',
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  })
}

/**
 * Options of Node's permission model, which allow no file except code, no process, no thread and no inspector; from
 * Node 25 on, no network except what the library opens itself. They restrict JavaScript only; the operating system
 * restricts the native library.
 */
export function restrictions(): string[] {
  const paths = installation().quicReadable ?? [packageDirectory(), ...dependencies()]
  const readable = paths.map((path) => `--allow-fs-read=${path}`)
  // The library is native code, so Node's warning about it says nothing new.
  return ['--permission', '--allow-addons', '--disable-warning=PERM0001', ...readable]
}

function packageDirectory(): string {
  const directory = ancestors().find((path) => existsSync(join(path, 'package.json')))
  return join(directory ?? import.meta.dirname, '/')
}

function dependencies(): string[] {
  const folders = ancestors().map((path) => join(path, 'node_modules', '/'))
  const packages = folders.flatMap((folder) => PACKAGES.map((name) => join(folder, name)))
  return [
    ...folders.filter((path) => existsSync(path)),
    ...packages.filter((path) => existsSync(path)).map((path) => join(realpathSync(path), '/')),
  ]
}

/** Directories from the nearest to the root. */
function ancestors(): string[] {
  const paths = [import.meta.dirname]
  for (;;) {
    const next = dirname(paths.at(-1)!)
    if (next === paths.at(-1)) return paths
    paths.push(next)
  }
}
