// The linter of regular expressions finds the slow ones, wherever they are and however they are made, and no others.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the templates are the code of other files
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findSlowPatterns } from '../lint/regular-expressions.ts'

const QUADRATIC = 'takes quadratic time'
const EXPONENTIAL = 'takes exponential time'
const UNKNOWN = 'made of more than constants'

/** File, what it says, and what the linter must say of its line 2. */
const SLOW: [file: string, code: string, message: string][] = [
  [
    'relay/src/core/client-address/ip-address.ts',
    "export const x = (text: string) => text.replace(/%.*$/, '')",
    QUADRATIC,
  ],
  ['relay/web/src/a.tsx', 'export const x = <b title={/\\s+$/.source} />', QUADRATIC],
  ['protocol/src/a.ts', 'export const x = /^(a+)+$/', EXPONENTIAL],
  ['yamux/src/a.ts', 'export const x = /^\\d+\\d+$/', QUADRATIC],
  ['tls/src/b/a.ts', 'export const x = /(?=.*a)b/', QUADRATIC],
  ['sdk-browser/src/a.ts', 'export const x = /^[ \\t]*(?:a=b)?[ \\t]*$/y', QUADRATIC],
  ['sdk-node/src/a.ts', "export const x = new RegExp('^(.*,)*x')", EXPONENTIAL],
  ['examples/a/b.js', "export const x = RegExp('a*a*b', 'g')", QUADRATIC],
  ['scripts/b/a.mjs', 'const PART = "[a-z]+"; export const x = new RegExp(`(${PART}-?)*=`)', EXPONENTIAL],
  ['relay/src/b.ts', "export { y } from './c.ts'; import { y } from './c.ts'; new RegExp(y)", EXPONENTIAL],
  ['relay/src/d.ts', "import { Z } from '@svc/protocol'; new RegExp(`^(${Z}+)+$`)", EXPONENTIAL],
  ['relay/src/e.ts', 'export const x = (name: string) => new RegExp(`^${name}$`)', UNKNOWN],
  ['relay/src/f.ts', "import { Z } from 'elsewhere'; new RegExp(Z)", UNKNOWN],
]

const FAST: [file: string, code: string][] = [
  ['relay/src/ok.ts', 'export const x = [/^[a-z]+$/, /^%.*$/, /[&<>]/g, /^a{1,40}b{2}$/m]'],
  ['relay/src/also.ts', "import { LENGTH } from '@svc/protocol'; new RegExp(`^[a-z]{${LENGTH + 2}}$`)"],
  ['relay/src/raw.ts', 'export const x = new RegExp(String.raw`^\\w+\\s\\w+$`)'],
  ['relay/test/ok.ts', 'export const x = /^(a+)+$/'],
  ['examples/node_modules/a/index.js', 'export const x = /^(a+)+$/'],
]

/** Files that other files import. */
const SHARED: [file: string, code: string][] = [
  ['relay/src/c.ts', "const word = '[a-z]+'\nexport const y = '^(?:' + word + ')*$'"],
  ['protocol/src/limits.ts', "export const LENGTH = 4 * 5\nexport const Z = 'z'"],
]

let checkout: string
let findings: string[]

beforeAll(() => {
  checkout = mkdtempSync(path.join(tmpdir(), 'svc-patterns-'))
  for (const [file, code] of [...SLOW, ...FAST, ...SHARED]) {
    mkdirSync(path.dirname(path.join(checkout, file)), { recursive: true })
    writeFileSync(path.join(checkout, file), `\n${code}\n`)
  }
  findings = findSlowPatterns(checkout)
})
afterAll(() => rmSync(checkout, { recursive: true }))

test.each(SLOW)('%s is found: %s', (file, _code, message) => {
  expect(findings.filter((one) => one.startsWith(`${file}:`))).toEqual([
    expect.stringMatching(new RegExp(`^${file}:2: .*${message}`)),
  ])
})

test.each([...FAST, ...SHARED])('%s is not: %s', (file) => {
  expect(findings.filter((one) => one.startsWith(`${file}:`))).toEqual([])
})

test('the command that `npm test` runs fails for them', () => {
  const script = path.join(import.meta.dirname, '../lint/regular-expressions.ts')
  const run = spawnSync(process.execPath, [script, checkout], { encoding: 'utf8', timeout: 60_000 })
  expect(run.stdout.trim().split('\n')).toEqual(findings)
  expect(run.status).toBe(1)
})
