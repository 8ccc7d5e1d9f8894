// `npm run release` in a copy of what it reads, with a git of its own.

import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { root } from '../../tools/programs/command.ts'
import { wholeOnly } from '../../tools/test-depth.ts'

const { version: CURRENT, workspaces }: { version: string; workspaces: string[] } = JSON.parse(
  readFileSync(path.join(root, 'package.json'), 'utf8'),
)
const NEXT = `${Number.parseInt(CURRENT, 10) + 1}.0.0`
const FILES = [
  'package.json',
  'package-lock.json',
  'CHANGELOG.md',
  ...workspaces.map((folder) => `${folder}/package.json`),
  'relay/src/core/version.ts',
  'sdk-node/src/version.ts',
  'tools/programs/command.ts',
  ...globSync('scripts/{release.ts,release/*}', { cwd: root }),
]

let copy: string
let first: string
beforeAll(() => {
  copy = mkdtempSync(path.join(tmpdir(), 'svc-release-'))
  for (const file of FILES) cpSync(path.join(root, file), path.join(copy, file), { recursive: true })
  symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'))
  writeFileSync(path.join(copy, '.gitignore'), 'node_modules\n')
  const changelog = read('CHANGELOG.md').replace(
    /## Unreleased\n[\s\S]*?(?=\n## |$)/,
    '## Unreleased\n\n- A change.\n',
  )
  writeFileSync(path.join(copy, 'CHANGELOG.md'), changelog)
  git('init', '--quiet')
  git('add', '.')
  git('commit', '--quiet', '--message', 'all')
  first = git('rev-parse', 'HEAD')
})
afterEach(() => {
  git('reset', '--quiet', '--hard', first)
  for (const tag of git('tag').split('\n').filter(Boolean)) git('tag', '--delete', tag)
})
afterAll(() => rmSync(copy, { recursive: true }))

const read = (file: string): string => readFileSync(path.join(copy, file), 'utf8')

test('every package, what they need of each other, the lockfile and the code have the version, in a tagged commit', () => {
  const note = '.changeset/brave-cats.md'
  mkdirSync(path.join(copy, '.changeset'))
  writeFileSync(path.join(copy, note), "---\n'@svc/tls': patch\n---\n\nAnother change,\nof two lines.\n")
  git('add', note)
  git('commit', '--quiet', '--message', 'a change')
  expect(release(NEXT)).toMatchObject({ status: 0, stderr: '' })
  expect(git('status', '--porcelain')).toBe('')
  expect(git('log', '-1', '--format=%s')).toBe(`release: ${NEXT}`)
  expect(git('describe', '--exact-match')).toBe(`v${NEXT}`)

  const changed = git('show', '--name-only', '--format=').split('\n')
  const files = FILES.filter((file) => /package(?:-lock)?\.json$|version\.ts$|CHANGELOG/.test(file))
  expect(changed.toSorted()).toEqual([note, ...files].toSorted())
  expect(existsSync(path.join(copy, note))).toBe(false)
  for (const file of files.filter((one) => one.endsWith('/package.json'))) {
    const { version, dependencies = {} } = JSON.parse(read(file))
    expect(version, file).toBe(NEXT)
    for (const [name, range] of Object.entries(dependencies))
      if (name.startsWith('@svc/')) expect(range, `${name} of ${file}`).toBe(NEXT)
  }
  expect(read('relay/src/core/version.ts')).toContain(`'${NEXT}'`)
  expect(read('sdk-node/src/version.ts')).toContain(`'${NEXT}'`)
  const lock = JSON.parse(read('package-lock.json'))
  const locked = ['', ...workspaces].map((folder) => lock.packages[folder].version)
  expect([lock.version, ...locked]).toEqual(Array(workspaces.length + 2).fill(NEXT))
  // Nothing but versions has changed.
  const lines = git('show', '--format=', '--unified=0', '--', '*.json').split('\n')
  for (const line of lines.filter((one) => /^[-+] /.test(one)))
    expect(line).toMatch(new RegExp(`^[-+] +"(?:version|@svc/[\\w-]+)": "(?:${CURRENT}|${NEXT})",?$`))

  const today = new Date().toISOString().slice(0, 10)
  expect(read('CHANGELOG.md')).toContain(
    `## Unreleased\n\n## ${NEXT} (${today})\n\n- A change.\n- Another change,\n  of two lines.\n`,
  )
})

test('a dry run says what it would do, and does nothing', () => {
  const { status, stdout } = release('--dry-run', NEXT)
  expect(status).toBe(0)
  expect(stdout).toContain('would change sdk-node/package.json')
  expect(stdout).toContain(`make the tag v${NEXT} (${CURRENT} → ${NEXT})`)
  expect(git('status', '--porcelain') + git('tag')).toBe('')
})

wholeOnly(test, 'variant').each([
  [[], 2, /Usage: npm run release/],
  [['--force', NEXT], 2, /--force/],
  [[`v${NEXT}`], 1, /is no semantic version/],
  [[CURRENT], 1, /does not come after/],
  [[`${CURRENT}-rc.1`], 1, /does not come after/],
] as const)('%j is refused', (args, code, reason) => {
  const { status, stderr } = release(...args)
  expect([status, stderr]).toEqual([code, expect.stringMatching(reason)])
  expect(git('status', '--porcelain') + git('tag')).toBe('')
})

test('what is not committed, a tag that exists and an empty changelog are refused, and stay', () => {
  writeFileSync(path.join(copy, 'new.txt'), 'mine')
  expect(release(NEXT)).toMatchObject({ status: 1, stderr: expect.stringContaining('not committed') })
  expect(read('new.txt')).toBe('mine')
  rmSync(path.join(copy, 'new.txt'))

  git('tag', `v${NEXT}`)
  expect(release(NEXT)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining(`the tag v${NEXT} exists`),
  })
  git('tag', '--delete', `v${NEXT}`)

  const changelog = read('CHANGELOG.md')
  writeFileSync(path.join(copy, 'CHANGELOG.md'), changelog.replace('\n- A change.\n', ''))
  git('commit', '--quiet', '--all', '--message', 'nothing')
  expect(release(NEXT)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('nothing that is unreleased'),
  })
})

wholeOnly(test, 'faults')('when git refuses the commit, everything is as it was', () => {
  const hook = path.join(copy, '.git/hooks/pre-commit')
  writeFileSync(hook, '#!/bin/sh\necho not today >&2\nexit 1\n', { mode: 0o755 })
  expect(release(NEXT)).toMatchObject({ status: 1, stderr: expect.stringContaining('not today') })
  expect(git('status', '--porcelain') + git('tag')).toBe('')
  expect(JSON.parse(read('package.json')).version).toBe(CURRENT)
  rmSync(hook)
})

wholeOnly(test, 'variant')('a package of another version is an error, and nothing is half changed', () => {
  const file = path.join(copy, 'tls/package.json')
  writeFileSync(file, read('tls/package.json').replace(`"version": "${CURRENT}"`, '"version": "0.0.9"'))
  appendFileSync(path.join(copy, 'CHANGELOG.md'), '\n')
  git('commit', '--quiet', '--all', '--message', 'another version')
  expect(release(NEXT)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('tls/package.json has the version 0.0.9'),
  })
  expect(git('status', '--porcelain') + git('tag')).toBe('')
})

function release(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const command = [path.join(copy, 'scripts/release.ts'), ...args]
  return spawnSync(process.execPath, command, { cwd: copy, env: environment(), encoding: 'utf8' })
}

function git(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, {
    cwd: copy,
    env: environment(),
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(stderr)
  return stdout.trim()
}

/** Git reads nothing of this machine's user. */
function environment(): NodeJS.ProcessEnv {
  const person = { NAME: 'Tester', EMAIL: 'tester@example.com' }
  const names = Object.entries(person).flatMap(([key, value]) => [
    [`GIT_AUTHOR_${key}`, value],
    [`GIT_COMMITTER_${key}`, value],
  ])
  const none = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' }
  const { PATH, NODE_COMPILE_CACHE } = process.env
  return { PATH, NODE_COMPILE_CACHE, ...none, ...Object.fromEntries(names) }
}
