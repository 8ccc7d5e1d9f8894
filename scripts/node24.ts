// The tests of the Node SDK, and with them the relay, on the oldest Node that is supported, and those of everything in the
// relay that leans on Node's internals: `npm run test:node24 [-- FILTER…]`. That Node comes from npm, into a folder that is kept.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { root, runCommand } from '../tools/programs/command.ts'
import { ensureServices } from '../tools/programs/services.ts'

const VERSION = '24.21.0'
const TESTS_TIMEOUT_MS: number = 10 * 60_000
const TESTS = ['sdk-node/', 'relay/test/node-internals/']
const INSTALL_TIMEOUT_MS: number = 5 * 60_000

const folder = path.join(root, 'node_modules/.cache/node', VERSION)
const bin = path.join(folder, 'node_modules/node/bin')
const node = path.join(bin, 'node')

if (!existsSync(node)) install()
ensureServices()
const filters = process.argv.slice(2)
const command = [node, 'node_modules/vitest/vitest.mjs', 'run', ...(filters.length > 0 ? filters : TESTS)]
console.log(`On Node ${VERSION}`)
// Tests start their relays, and `svc`, with the Node that they run on themselves.
const env = { PATH: `${bin}${path.delimiter}${process.env.PATH}` }
const { ok, output } = await runCommand(command, { timeoutMs: TESTS_TIMEOUT_MS, env })
if (output !== '') console.error(output)
process.exitCode = ok ? 0 : 1

function install(): void {
  mkdirSync(folder, { recursive: true })
  // npm runs no install script that is not allowed; this one puts the binary where it is looked for.
  writeFileSync(
    path.join(folder, 'package.json'),
    JSON.stringify({ private: true, allowScripts: { node: true } }),
  )
  const args = ['install', '--no-audit', '--no-fund', '--loglevel=error', `node@${VERSION}`]
  const { status, stdout, stderr, error } = spawnSync('npm', args, {
    cwd: folder,
    encoding: 'utf8',
    timeout: INSTALL_TIMEOUT_MS,
    shell: process.platform === 'win32',
  })
  if (status === 0 && existsSync(node)) return
  console.error(`Node ${VERSION} cannot be installed:\n${stdout}${stderr}${error?.message ?? ''}`)
  process.exit(1)
}
