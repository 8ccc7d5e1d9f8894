// The folder table: imports that it does not allow, cycles, and rows that say too much are found, in types as well.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { FolderTable } from '../lint/folder-table.ts'
import { findFolderFaults } from '../lint/folders.ts'

const WHY = 'it needs nothing else'
let checkout: string

afterEach(() => rmSync(checkout, { recursive: true }))

const TABLE: FolderTable = {
  'relay/src': {
    'main.ts': { imports: ['ingress'], why: WHY },
    ingress: { imports: ['lease'], why: WHY },
    lease: { imports: [], why: WHY },
  },
}

const GOOD = {
  'relay/src/main.ts': "import { x } from './ingress/a.ts'",
  'relay/src/ingress/a.ts': "import './b/c.ts'\nexport { x } from '../lease/x.ts'",
  'relay/src/ingress/b/c.ts': "import { PATH } from '@svc/protocol'",
  'relay/src/lease/x.ts': 'export const x = 1',
}

function faults(files: Record<string, string>, table: FolderTable = TABLE): string[] {
  checkout = mkdtempSync(path.join(tmpdir(), 'svc-folders-'))
  for (const [file, code] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(checkout, file)), { recursive: true })
    writeFileSync(path.join(checkout, file), `${code}\n`)
  }
  return findFolderFaults(checkout, table)
}

test('imports that the table allows are no fault', () => {
  expect(faults(GOOD)).toEqual([])
})

test.each([
  ['a value', "import { x } from '../ingress/a.ts'"],
  ['a type', "import type { x } from '../ingress/a.ts'"],
  ['what is exported again', "export * from '../ingress/a.ts'"],
  ['what is loaded later', "export const x = () => import('../ingress/a.ts')"],
  ['the type of an import', "export type X = import('../ingress/a.ts').X"],
])('%s that the table does not allow is a fault, with the reason, and a cycle', (_what, code) => {
  expect(faults({ ...GOOD, 'relay/src/lease/y.ts': code })).toEqual([
    `relay/src/lease/y.ts: lease may not import ingress: ${WHY}`,
    'relay/src: an import cycle, ingress → lease → ingress',
  ])
})

test('a cycle is a fault even where the table allows each of its imports', () => {
  const allowed = {
    'relay/src': { ...TABLE['relay/src'], lease: { imports: ['ingress'], why: WHY } },
  }
  expect(faults({ ...GOOD, 'relay/src/lease/y.ts': "import '../ingress/a.ts'" }, allowed)).toEqual([
    'relay/src: an import cycle, ingress → lease → ingress',
  ])
})

test('the table says neither too much nor too little', () => {
  const { 'relay/src/ingress/a.ts': _, 'relay/src/lease/x.ts': __, ...rest } = GOOD
  expect(faults({ ...rest, 'relay/src/ports/p.ts': '' })).toEqual([
    'relay/src/ingress does not import lease: the table need not allow it',
    'relay/src/ports is not in the table',
    'relay/src/lease is in the table and not in the tree',
  ])
})

test('of the top-level folders only those in the table are judged', () => {
  const table = { '.': { e2e: { imports: ['tools'], why: WHY }, tools: { imports: [], why: WHY } } }
  const files = {
    'e2e/a.spec.ts': "import '../tools/x/y.ts'\nimport '../relay/src/main.ts'",
    'tools/x/y.ts': "import '../../relay/src/main.ts'",
    'tools/node_modules/z/z.ts': "import '../../../e2e/a.spec.ts'",
    'relay/src/main.ts': '',
  }
  expect(faults(files, table)).toEqual([])
  rmSync(checkout, { recursive: true })
  expect(faults({ ...files, 'tools/x/y.ts': "import '../../e2e/a.spec.ts'" }, table)).toEqual([
    `tools/x/y.ts: tools may not import e2e: ${WHY}`,
    '.: an import cycle, e2e → tools → e2e',
  ])
})
