// node:tls, with the OpenSSL that Node brings: of the Node that runs this, of the system's, and of a release line of npm's.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { delimiter, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Client, Found, Task, Workspace } from '../client.ts'
import { OPENSSL_SUITES, opensslCannot, opensslEnv, opensslGroups } from '../openssl-config.ts'
import { pipeArguments } from '../pipe-arguments.ts'
import { ask, runProgram } from '../process.ts'

const PROGRAM = join(import.meta.dirname, 'pipe.mjs')
const RELEASE_LINE = '24'
/** Not in a checkout's lockfile: it is only for this row. */
const CACHE = resolve(import.meta.dirname, '../../../../node_modules/.cache/interop', `node${RELEASE_LINE}`)
/** A download of some 50 MB, in milliseconds. */
const INSTALL_TIMEOUT_MS: number = 3 * 60_000

export const node: Client = {
  name: 'node',
  install: 'it is the Node that runs the tests',
  find: () => found(process.execPath),
}

export const nodeOfSystem: Client = {
  name: 'node-sys',
  install: 'apt-get install nodejs',
  find: async () => {
    const folders = (process.env.PATH ?? '')
      .split(delimiter)
      .filter((folder) => !folder.includes('node_modules'))
    const file = folders.map((folder) => join(folder, 'node')).find((candidate) => existsSync(candidate))
    return file === undefined ? undefined : found(file)
  },
}

export const nodeOfNpm: Client = {
  name: `node${RELEASE_LINE}`,
  install: `npm install --prefix node_modules/.cache/interop/node${RELEASE_LINE} node@${RELEASE_LINE}`,
  find: async () => {
    const file = join(CACHE, 'node_modules/.bin/node')
    if (!existsSync(file)) await install().catch(() => {})
    return existsSync(file) ? found(file) : undefined
  },
}

async function install(): Promise<void> {
  await mkdir(CACHE, { recursive: true })
  const args = ['install', '--prefix', CACHE, '--no-audit', '--no-fund', `node@${RELEASE_LINE}`]
  await promisify(execFile)('npm', args, { timeout: INSTALL_TIMEOUT_MS, cwd: CACHE })
}

async function found(file: string): Promise<Found | undefined> {
  const printed = (await ask(file, '-p', 'process.versions.node + " " + process.versions.openssl')) ?? ''
  const [, version, openssl] = /^(\S+) (\d[\d.]*)/.exec(printed) ?? []
  if (version === undefined || openssl === undefined) return undefined
  return {
    version: `${version} (OpenSSL ${openssl})`,
    cannot: { ...opensslCannot(openssl), 'KU in': 'node:tls has no call for it' },
    prepare: async (workspace) => ({ exchange: (task) => exchange(file, workspace, task) }),
  }
}

function exchange(file: string, workspace: Workspace, task: Task) {
  const groups = opensslGroups(task)
  const args = [
    PROGRAM,
    ...pipeArguments(workspace, task),
    ...(task.suite === undefined ? [] : [`ciphers=${OPENSSL_SUITES[task.suite]}`]),
    ...(groups === undefined ? [] : [`groups=${groups}`]),
  ]
  // Only for the padding, for which it has no option.
  return runProgram(file, args, { ...(task.padding && { env: opensslEnv(workspace.directory, task) }) })
}
