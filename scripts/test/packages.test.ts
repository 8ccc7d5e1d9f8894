// What a tarball's package.json says, and that the tools which judge tarballs find what would be wrong with it.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { root } from '../../tools/programs/command.ts'
import { checkTarball } from '../packages/check.ts'
import { type Manifest, PUBLISHED, readManifest } from '../packages/published.ts'
import { publishedManifest } from '../packages/published-manifest.ts'

const repository = { type: 'git', url: 'git+https://example.com/svc.git' }
const versions = { '@svc/tls': '2.0.0' }

const manifest: Manifest = {
  name: '@svc/part',
  version: '2.0.0',
  private: true,
  description: 'a part',
  keywords: ['part'],
  license: 'Apache-2.0',
  type: 'module',
  sideEffects: ['./src/main.ts'],
  files: ['src', 'pages'],
  exports: { '.': './src/index.ts', './deep': './src/a/deep.ts' },
  imports: { '#ws': { types: './src/ws.d.ts', default: 'isomorphic-ws' } },
  bin: { part: './src/main.ts' },
  scripts: { test: 'false' },
  dependencies: { '@svc/tls': '1.0.0', ws: '8.0.0' },
  devDependencies: { vite: '8.0.0' },
}

const publish = (changes: Partial<Manifest> = {}): Manifest =>
  publishedManifest({ ...manifest, ...changes }, { versions, repository, folder: 'part' })

test('it leads to dist, pins our packages, and leaves out what only the checkout needs', () => {
  expect(publish()).toEqual({
    name: '@svc/part',
    version: '2.0.0',
    description: 'a part',
    keywords: ['part'],
    license: 'Apache-2.0',
    type: 'module',
    sideEffects: ['./dist/main.js'],
    files: ['dist', 'pages'],
    exports: {
      '.': { types: './dist/index.d.ts', default: './dist/index.js' },
      './deep': { types: './dist/a/deep.d.ts', default: './dist/a/deep.js' },
      './package.json': './package.json',
    },
    imports: { '#ws': { types: './dist/ws.d.ts', default: 'isomorphic-ws' } },
    bin: { part: './dist/main.js' },
    dependencies: { '@svc/tls': '2.0.0', ws: '8.0.0' },
    repository: { ...repository, directory: 'part' },
  })
})

test.each(['description', 'keywords', 'license', 'sideEffects', 'exports'])(
  'without %s there is none',
  (field) => {
    expect(() => publish({ [field]: undefined })).toThrow(`part/package.json has no ${field}`)
  },
)

test('every published package has a manifest that can be derived, and one version', () => {
  const all = PUBLISHED.map((folder) =>
    publishedManifest(readManifest(folder), { versions, repository, folder }),
  )
  expect(new Set(all.map(({ version }) => version))).toEqual(new Set([readManifest('.').version]))
  expect(all.filter((one) => JSON.stringify(one).includes('/src/'))).toEqual([])
})

let directory: string
beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'svc-packages-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

/** Packs a package of one module as npm would. */
function tarball(name: string, changes: Partial<Manifest>, declaration: string): string {
  const folder = path.join(directory, name, 'package')
  mkdirSync(path.join(folder, 'dist'), { recursive: true })
  const published = publish({ files: ['src'], exports: { '.': './src/index.ts' }, sideEffects: false })
  const { bin: _, imports: __, dependencies: ___, ...rest } = published
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ ...rest, ...changes }))
  writeFileSync(path.join(folder, 'dist/index.js'), 'export const one = 1\n')
  if (declaration !== '') writeFileSync(path.join(folder, 'dist/index.d.ts'), declaration)
  cpSync(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'))
  const file = path.join(directory, `${name}.tgz`)
  execFileSync('tar', ['-czf', file, '-C', path.dirname(folder), 'package'])
  return file
}

const DECLARATION = 'export declare const one: 1\n'

test.each([
  ['good', {}, DECLARATION, []],
  ['missing', { main: './dist/nothing.js' }, DECLARATION, [/^part: publint: .*does not exist/]],
  ['untyped', { exports: { '.': './dist/index.js' } }, '', [/^part: arethetypeswrong: it has no types$/]],
  [
    'unresolved',
    {},
    `export * from './other.js'\n`,
    [/InternalResolutionError.*node16/, /InternalResolutionError.*bundler/],
  ],
] as const)('a package that is %s is judged so', async (name, changes, declaration, expected) => {
  const file = tarball(name, changes as Partial<Manifest>, declaration)
  const findings = await checkTarball({ name: 'part', file })
  expect(findings).toEqual(expected.map((pattern) => expect.stringMatching(pattern)))
})
