// The web platform's tests: fetched by commit, run over both globals, and what ours do not pass is said. The harness here is
// a small one, so that this needs no network.

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, test as every, expect } from 'vitest'
import { wholeOnly } from '../../tools/test-depth.ts'
import { compare } from '../wpt/compare.ts'
import { ensureTests, findTests } from '../wpt/tests.ts'

const test = wholeOnly(every, 'variant')

/** Works as the real harness: it calls back when all is done, 0 means passed. */
const HARNESS = `const tests = []
function add_completion_callback(done) { addEventListener('load', () => done(tests)) }
function test(run, name) {
  try { run(); tests.push({ name, status: 0, message: null }) }
  catch (error) { tests.push({ name, status: 1, message: error.message }) }
}
function assert(ok, message) { if (!ok) throw new Error(message) }`

const FILES: Record<string, string> = {
  'resources/testharness.js': HARNESS,
  'fetch/api/resources/names.js': "const OWN = 'x-own'",
  'fetch/api/request/request-headers.any.js': `// META: title=Headers
// META: script=../resources/names.js
const request = new Request('/', { headers: { [OWN]: '1', Cookie: 'a=b' } })
test(() => assert(request.headers.get(OWN) === '1'), 'Adding valid request header')
test(() => assert(!request.headers.has('Cookie'), 'kept'), 'Adding invalid request header')
test(() => assert(false), 'what no browser does')`,
  'fetch/api/response/other.window.js': `const response = new Response('', { headers: { 'Set-Cookie': 'a=b' } })
test(() => assert(!response.headers.has('Set-Cookie'), 'Set-Cookie is there'), 'guard')`,
  'fetch/api/response/other.worker.js': 'no page for it',
  'unneeded/file.js': '',
}

let directory: string
beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'svc-wpt-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

function git(cwd: string, ...args: string[]): string {
  const identity = ['-c', 'user.name=test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false']
  return execFileSync('git', [...identity, ...args], { cwd, encoding: 'utf8' }).trim()
}

test('a difference that is meant is none, another is a fault', async () => {
  const repository = path.join(directory, 'origin')
  for (const [name, content] of Object.entries(FILES)) {
    mkdirSync(path.dirname(path.join(repository, name)), { recursive: true })
    writeFileSync(path.join(repository, name), content)
  }
  git(repository, 'init', '--quiet')
  for (const key of ['uploadpack.allowFilter', 'uploadpack.allowAnySHA1InWant'])
    git(repository, 'config', key, 'true')
  git(repository, 'add', '.')
  git(repository, 'commit', '--quiet', '-m', 'tests')
  const source = {
    repository: `file://${repository}`,
    commit: git(repository, 'rev-parse', 'HEAD'),
    cache: directory,
  }

  const checkout = await ensureTests(source)
  expect(await ensureTests({ ...source, repository: 'file:///nowhere' })).toBe(checkout)
  const files = findTests(checkout)
  expect(files).toEqual(['fetch/api/request/request-headers.any.js', 'fetch/api/response/other.window.js'])
  expect(await compare(checkout, files)).toEqual([
    {
      file: files[0],
      passed: ['Adding valid request header', 'Adding invalid request header'],
      ours: ['Adding valid request header'],
      meant: ['Adding invalid request header'],
      faults: [],
    },
    { file: files[1], passed: ['guard'], ours: [], meant: [], faults: ['guard: Set-Cookie is there'] },
  ])
})

test('what git cannot fetch is an error', async () => {
  const source = { repository: `file://${directory}/none`, commit: 'f'.repeat(40), cache: directory }
  await expect(ensureTests(source)).rejects.toThrow(/git fetch .*failed/)
})
