// Proves certificates by ACME with a current pebble, from the Go module proxy: `npm run interop -- acme`. Debian's is years older.
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { root, runCommand } from '../tools/programs/command.ts'
import { CURRENT_PEBBLE, CURRENT_PEBBLE_FOLDER, hasCurrentPebble } from '../tools/programs/pebble.ts'

const BUILD_TIMEOUT_MS: number = 10 * 60_000
const TESTS_TIMEOUT_MS: number = 15 * 60_000
const TESTS = ['relay/test/certificates/acme', 'relay/test/certificates/site/acme-sites.test.ts']

/** @returns whether all tests passed; false, with the reason on standard error, where pebble cannot be built */
export async function proveAcme(): Promise<boolean> {
  if (!hasCurrentPebble()) {
    const { status, stderr, error } = spawnSync('go', ['install', CURRENT_PEBBLE], {
      encoding: 'utf8',
      timeout: BUILD_TIMEOUT_MS,
      env: { ...process.env, GOBIN: CURRENT_PEBBLE_FOLDER },
    })
    if (status !== 0) {
      console.error(`pebble cannot be had (it needs Go and its module proxy): ${error?.message ?? stderr}`)
      return false
    }
  }
  const vitest = path.join(root, 'node_modules/vitest/vitest.mjs')
  const command = [process.execPath, vitest, 'run', '--project', 'node*', ...TESTS]
  return (await runCommand(command, { timeoutMs: TESTS_TIMEOUT_MS })).ok
}
