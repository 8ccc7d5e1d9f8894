// The pinned tests: fetched once with git, which takes only the folders that are needed.
import { existsSync, globSync, mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { root, runCommand } from '../../tools/programs/command.ts'

const FOLDERS = ['/fetch/api/', '/resources/', '/common/']
const FETCH_TIMEOUT_MS: number = 5 * 60_000

/** The tests of the globals that need no server of their own language. */
const TESTS = 'fetch/api/{headers,request,response}/*.{any,window}.js'

export interface TestSource {
  repository: string
  commit: string
  /** The directory that checkouts are kept in. */
  cache: string
}

const PINNED: TestSource = {
  repository: 'https://github.com/web-platform-tests/wpt',
  // of the main branch; BSD-3-Clause
  commit: '1e140d63ec885703ce24b3798abd81912696bb85',
  cache: path.join(root, 'node_modules/.cache'),
}

/** @returns the checkout. @throws Error with what git said */
export async function ensureTests({ repository, commit, cache }: TestSource = PINNED): Promise<string> {
  const directory = path.join(cache, `wpt-${commit}`)
  if (existsSync(path.join(directory, 'resources/testharness.js'))) return directory
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  for (const args of [
    ['init', '--quiet'],
    ['remote', 'add', 'origin', repository],
    ['sparse-checkout', 'set', '--no-cone', ...FOLDERS],
    ['fetch', '--quiet', '--depth=1', '--filter=blob:none', 'origin', commit],
    ['checkout', '--quiet', 'FETCH_HEAD'],
  ]) {
    const options = { timeoutMs: FETCH_TIMEOUT_MS, quiet: true, cwd: directory }
    const { ok, output } = await runCommand(['git', ...args], options)
    if (!ok) throw new Error(`git ${args.join(' ')} failed:\n${output}`)
  }
  return directory
}

/** Paths below the checkout, with slashes. */
export function findTests(directory: string): string[] {
  return globSync(TESTS, { cwd: directory })
    .map((file) => file.split(path.sep).join('/'))
    .sort()
}
