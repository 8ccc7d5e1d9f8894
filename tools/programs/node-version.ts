// Installs another version of Node from npm, into a folder that is kept.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { root } from './command.ts'
import { npmCommand } from './npm.ts'

/** The oldest Node that is supported. */
export const OLDEST_NODE = '24.21.0'
const INSTALL_TIMEOUT_MS: number = 5 * 60_000

/** @returns the path of that Node. @throws Error with npm's output when it cannot be installed */
export function ensureNode(version: string): string {
  const folder = path.join(root, 'node_modules/.cache/node', version)
  const node = path.join(folder, 'node_modules/node/bin/node')
  if (existsSync(node)) return node
  mkdirSync(folder, { recursive: true })
  // npm runs no install script that is not allowed; this one puts the binary where it is looked for.
  writeFileSync(
    path.join(folder, 'package.json'),
    JSON.stringify({ private: true, allowScripts: { node: true } }),
  )
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error']
  const [npm = '', ...args] = npmCommand('install', ...quiet, `node@${version}`)
  const { status, stdout, stderr, error } = spawnSync(npm, args, {
    cwd: folder,
    encoding: 'utf8',
    timeout: INSTALL_TIMEOUT_MS,
    shell: process.platform === 'win32',
  })
  if (status === 0 && existsSync(node)) return node
  throw new Error(`Node ${version} cannot be installed:\n${stdout}${stderr}${error?.message ?? ''}`)
}
