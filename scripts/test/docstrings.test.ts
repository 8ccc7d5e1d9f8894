// Each export of a package has a docstring, which a user of the package reads, and which `npm run docs` shows.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { PublicExports } from '../lint/public-exports.ts'
import { PUBLISHED } from '../packages/published.ts'

const root = path.resolve(import.meta.dirname, '../..')

test.each(PUBLISHED)('every export of %s has a docstring', (folder) => {
  const exports = new PublicExports(root).ofPackage(folder)
  expect(exports.length).toBeGreaterThan(0)
  const without = exports.filter(({ docstring }) => docstring === undefined)
  expect(without.map(({ file, name }) => `${file}: ${name}`)).toEqual([])
})

test.each(PUBLISHED)('the docstrings of %s name defaults by @default', (folder) => {
  const exports = new PublicExports(root)
  const options = exports.ofPackage(folder).flatMap((one) =>
    [...exports.membersOf(one)].map(([member, docstring]) => ({
      name: `${one.name}.${member}`,
      docstring,
    })),
  )
  const prose = options.filter(({ docstring }) => /\bDefault\b|\bby default\b/.test(docstring ?? ''))
  expect(prose.map(({ name }) => name)).toEqual([])
})

test('the API reference covers each entry of these packages that a page or a program imports', () => {
  const entries = readFileSync(path.join(root, 'docs/reference/entries.ts'), 'utf8')
  for (const folder of PUBLISHED) expect(entries).toMatch(new RegExp(`'${folder}/src/(?:\\w+/)?index\\.ts'`))
})

const FILES = {
  'package.json': '{ "exports": { ".": "./index.ts" } }',
  'index.ts': `
    export * from './one.ts'
    export { original as renamed } from './two.ts'
    /** Three. */
    export * as NAMESPACE from './two.ts'
    const bare = 1
    export { bare }
  `,
  'one.ts': '/** One. */\nexport const documented = 1',
  'two.ts': '/** Two. */\nexport const original = 2',
}

test('docstrings are found behind re-exports, and a missing one is noticed', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'svc-exports-'))
  for (const [name, text] of Object.entries(FILES)) writeFileSync(path.join(directory, name), text)
  const found = new PublicExports(directory).ofPackage('.')
  rmSync(directory, { recursive: true })
  expect(found.map(({ name, docstring }) => [name, docstring?.trim()])).toEqual([
    ['documented', 'One.'],
    ['renamed', 'Two.'],
    ['NAMESPACE', 'Three.'],
    ['bare', undefined],
  ])
})
