// No section of the ledger is without its tests, none is tested twice, and what is said of the other rows is so.

import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { DomainResponse } from '@svc/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestRelay, type TestRelay } from '../support/relay.ts'
import { LATER } from './later.ts'
import { ROWS } from './rows.ts'
import { SDKS } from './sdks.ts'
import { sectionFiles } from './section-files.ts'
import { PARTS, type PartName, type Proof, type Standing, type Standings } from './standing.ts'
import { WIRE } from './wire.ts'

const ROOT = path.join(import.meta.dirname, '../../..')

const relays: Standings[] = [LATER, WIRE]
const standings: Standing[] = [
  ...relays.flatMap((sections) => Object.values(sections).flatMap((rows) => Object.values(rows))),
  ...Object.values(SDKS).flatMap((rows) =>
    Object.values(rows).flatMap(({ browser, node }) => [browser, node]),
  ),
]

test('every section has its tests in one place', () => {
  expect(sectionFiles().map(([section]) => section)).toEqual(Object.keys(ROWS).toSorted())
})

test('no row is there twice', () => {
  for (const [section, rows] of Object.entries<readonly string[]>(ROWS)) {
    expect(new Set(rows).size).toBe(rows.length)
    const elsewhere = Object.keys((LATER as Record<string, object>)[section] ?? {})
    expect(rows.filter((row) => elsewhere.includes(row))).toEqual([])
  }
})

describe('a test that is named as a proof is there', () => {
  test.each([
    ...new Set(standings.flatMap((one) => (one.is === 'proved' ? one.by.map(({ file }) => file) : []))),
  ])('%s', (file) => {
    const text = readFileSync(path.join(ROOT, file), 'utf8')
    const named = standings.flatMap((one) => (one.is === 'proved' ? one.by : []))
    expect(
      named.filter((proof) => proof.file === file && !isIn(text, proof)).map(({ test }) => test),
    ).toEqual([])
  })

  test('a name in a comment, or of a test that is left out, is none', () => {
    const isNamed = (text: string) => isIn(text, { file: 'x.test.ts', test: 'works' })
    for (const text of [
      "test('works', () => {",
      "  ])('works', () => {",
      "test.for(A)(\n  'works',",
      "describe('works', ",
    ])
      expect(isNamed(text)).toBe(true)
    for (const text of [
      "// test('works', ",
      "test.skip('works', ",
      "it.todo('works')",
      '// works',
      "test('it works', ",
    ])
      expect(isNamed(text)).toBe(false)
  })
})

describe('a part that is planned is not there yet', () => {
  let relay: TestRelay
  beforeAll(async () => {
    relay = await startTestRelay()
  })
  afterAll(() => relay.close())

  test.each(Object.keys(PARTS) as PartName[])('%s', async (name) => {
    const part: (typeof PARTS)[PartName] = PARTS[name]
    expect(existsSync(path.join(ROOT, part.folder))).toBe(false)
    if ('extension' in part) {
      const { data } = (await relay.call('GET', '/sdk/domain')).json as unknown as { data: DomainResponse }
      expect(data.extensions).not.toContain(part.extension)
    }
    if ('word' in part) expect(filesWith(part.word)).toEqual([])
    const isNamed = standings.some((one) => one.is === 'planned' && one.part === name)
    expect(isNamed).toBe(true)
  })
})

test('a word is found in the sources of relay and SDKs, whichever file has it', () => {
  expect(filesWith('/v1/sign')).not.toEqual([])
})

/** The sources of relay and SDKs that have this word. `protocol` names parts of the contract before they are built. */
function filesWith(word: string): string[] {
  return globSync('{relay,sdk-core,sdk-browser,sdk-node}/src/**/*.ts', { cwd: ROOT }).filter((file) =>
    readFileSync(path.join(ROOT, file), 'utf8').includes(word),
  )
}

/** Whether a test, a group of tests or, in the ledger, a row of that name begins there; `…` stands for any `${expression}`. */
function isIn(text: string, { file, test }: Proof): boolean {
  const name = test.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', String.raw`\$\{[^}]*\}`)
  const quoted = `(?:'${name}'|"${name}"|\`${name}\`)`
  if (file.startsWith('relay/test/ledger/')) return new RegExp(`^ +(?:${quoted}|${name}):`, 'm').test(text)
  const call = '^ *(?:(?:test|it|describe)(?:\\.(?:for|each|concurrent|describe|skipIf))?|\\]\\)|.*\\))'
  return new RegExp(`${call}\\(\\s*${quoted},`, 'm').test(text)
}
