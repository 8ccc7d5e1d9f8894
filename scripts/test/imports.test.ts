// The rules of imports: each forbidden import of one of our files by another, and each cycle, is found, in types as well.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '../..')

/** File, the file that it imports, and the rule that it breaks. */
const FORBIDDEN: [from: string, to: string, rule: string][] = [
  ...['protocol', 'yamux', 'tls', 'payment', 'node-kit'].map((one): [string, string, string] => [
    `${one}/src/a.ts`,
    one === 'protocol' ? '@svc/tls' : '@svc/protocol',
    `imports-of-${one}`,
  ]),
  ['dns/src/a.ts', '@svc/protocol', 'imports-of-dns'],
  ['relay/src/core/keyless/a.ts', '@svc/tls', 'imports-of-relay'],
  ['relay/src/b.ts', '@svc/sdk-core', 'imports-of-relay'],
  ['sdk-core/src/a.ts', '@svc/relay', 'imports-of-sdk-core'],
  ['sdk-core/src/b.ts', '@svc/sdk-browser', 'imports-of-sdk-core'],
  ['sdk-browser/src/a.ts', '@svc/tls', 'imports-of-sdk-browser'],
  ['sdk-node/src/a.ts', '@svc/relay', 'imports-of-sdk-node'],
  ['sdk-node/src/b.ts', '@svc/sdk-browser', 'imports-of-sdk-node'],
  ['relay/web/src/a.ts', '@svc/relay', 'imports-of-relay/web'],
  ['sdk-node/web/src/a.ts', '@svc/protocol', 'imports-of-sdk-node/web'],
  ['sdk-core/src/c.ts', '../../protocol/src/index.ts', 'packages-by-name'],
  ['relay/src/core/lease/a.ts', '../../features/ports/index.ts', 'core-without-features'],
  ['relay/src/core/lease/b.ts', '../../main.ts', 'core-without-features'],
  ['relay/src/features/overlay/a.ts', '../ports/part.ts', 'features-by-index'],
  ['relay/src/features/overlay/b.ts', '../../main.ts', 'features-without-relay'],
  ['tls/src/messages/a.ts', '../index.ts', 'codecs-without-engine'],
  ['sdk-core/src/http1/a.ts', '../http2/part.ts', 'http-versions-apart'],
  ['sdk-core/src/http2/a.ts', '../http1/part.ts', 'http-versions-apart'],
  ['sdk-browser/src/b.ts', './adapters/part.ts', 'adapters-at-build-time'],
  ['sdk-node/src/c.ts', './cli/part.ts', 'commands-on-top'],
  ['relay/web/src/sites/a.ts', '../admin/part.ts', 'pages-apart'],
  ['yamux/src/b.ts', '../test/part.ts', 'tests-apart'],
  ['node-kit/src/b.ts', '../../tools/part.ts', 'tests-apart'],
  ['tools/a.ts', '../e2e/part.ts', 'tools-below-all'],
  ['bench/a.ts', '../scripts/part.ts', 'tools-below-all'],
]

/** They stand for the files that are imported, and import nothing themselves. */
const IMPORTED = [
  ...['protocol', 'yamux', 'tls', 'relay', 'sdk-core', 'sdk-browser'].map((one) => `${one}/src/index.ts`),
  'tls/src/messages/index.ts',
  'relay/src/main.ts',
  'relay/src/features/ports/{index,part}.ts',
  'sdk-core/src/{http1,http2}/part.ts',
  'sdk-browser/src/adapters/part.ts',
  'sdk-node/src/{cli/part,agent/api-messages}.ts',
  'relay/web/src/{admin/part,preact}.ts',
  'yamux/test/part.ts',
  '{tools,e2e,scripts}/part.ts',
  'payment/src/sui/part.ts',
].flatMap(expand)

const ALLOWED: Record<string, string> = {
  'relay/src/core/lease/ok.ts': "import '@svc/tls/messages'\nimport '@svc/protocol'\nimport 'node:tls'",
  'relay/src/features/overlay/ok.ts':
    "import '../ports/index.ts'\nimport '../../core/lease/ok.ts'\nimport './part.ts'",
  'relay/src/features/overlay/part.ts': '',
  'relay/src/relay.ts':
    "import './core/lease/ok.ts'\nexport const x = () => import('./features/ports/part.ts')",
  'sdk-browser/src/ok.ts': "import '@svc/sdk-core'",
  'sdk-node/web/src/ok.ts': "import '@svc/relay-web/preact.ts'\nimport '../../src/agent/api-messages.ts'",
  'relay/test/ok.test.ts': "import '@svc/tls'",
  'e2e/ok.spec.ts': "import '@svc/relay'\nimport '../tools/part.ts'",
}

/** Ways of writing an import. */
const CYCLES: [what: string, file: string, code: string][] = [
  ['values', 'value', "import { x } from './back.ts'"],
  ['types', 'type', "import type { x } from './back.ts'"],
  ['what is exported again', 'again', "export * from './back.ts'"],
  ['what is loaded later', 'late', "export const x = () => import('./back.ts')"],
  ['the type of an import', 'type-of-import', "export type X = import('./back.ts').X"],
]

let checkout: string
let lines: string[]
let status: number | null

beforeAll(() => {
  checkout = mkdtempSync(path.join(tmpdir(), 'svc-imports-'))
  for (const file of IMPORTED) write(file, 'export const x = 1')
  for (const [file, to] of FORBIDDEN) write(file, `export type { x } from '${to}'`)
  for (const [file, code] of Object.entries(ALLOWED)) write(file, code)
  for (const [, name, code] of CYCLES) {
    write(`sdk-core/src/${name}/start.ts`, code)
    write(`sdk-core/src/${name}/back.ts`, "export * from './start.ts'")
  }
  write('payment/src/client.ts', "export * from './step.ts'")
  write('payment/src/step.ts', "export const x = () => import('./sui/part.ts')")
  mkdirSync(path.join(checkout, 'node_modules/@svc'), { recursive: true })
  for (const [name, folder, exported] of [
    ...['protocol', 'tls', 'relay', 'sdk-core', 'sdk-browser'].map((one) => [one, one, '.'] as const),
    ['relay-web', 'relay/web', './preact.ts'] as const,
  ]) {
    const exports = { [exported]: exported === '.' ? './src/index.ts' : './src/preact.ts' }
    if (name === 'tls') exports['./messages'] = './src/messages/index.ts'
    write(`${folder}/package.json`, JSON.stringify({ name: `@svc/${name}`, type: 'module', exports }))
    symlinkSync(path.join(checkout, folder), path.join(checkout, 'node_modules/@svc', name))
  }
  const command = [path.join(root, 'scripts/lint/imports.ts'), checkout]
  const run = spawnSync(process.execPath, command, { encoding: 'utf8', timeout: 120_000 })
  expect(run.stderr).toBe('')
  lines = run.stdout.trimEnd().split('\n')
  status = run.status
})

afterAll(() => rmSync(checkout, { recursive: true }))

test.each(FORBIDDEN)('%s may not import %s: %s', (file, _to, rule) => {
  const found = lines.filter((line) => line.startsWith(`${file} → `))
  expect(found).toEqual([expect.stringMatching(new RegExp(`: ${rule}: [A-Z].+\\.$`))])
})

test.each(CYCLES)('a cycle of %s is found', (_what, name) => {
  const [start, back] = [`sdk-core/src/${name}/start.ts`, `sdk-core/src/${name}/back.ts`]
  const found = lines.filter((line) => line.includes(`sdk-core/src/${name}/`))
  expect(found).toEqual([
    expect.stringMatching(`^(${start} → ${back}|${back} → ${start}) → .+: no-cycle: Files`),
  ])
})

test('a page that pays does not load the chain, however long the way is', () => {
  const found = lines.filter((line) => line.startsWith('payment/src/client.ts'))
  expect(found).toEqual([
    expect.stringContaining('payment/src/step.ts → payment/src/sui/part.ts: payers-without-chain'),
  ])
})

test('nothing else is found, and a fault fails the check', () => {
  expect(lines).toHaveLength(FORBIDDEN.length + CYCLES.length + 1)
  expect(status).toBe(1)
})

function write(file: string, code: string): void {
  mkdirSync(path.dirname(path.join(checkout, file)), { recursive: true })
  writeFileSync(path.join(checkout, file), `${code}\n`)
}

/** @returns the paths that a path with one pair of braces stands for */
function expand(pattern: string): string[] {
  const [, before, choices, after] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(pattern) ?? []
  return choices === undefined ? [pattern] : choices.split(',').map((one) => `${before}${one}${after}`)
}
