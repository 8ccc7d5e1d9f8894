// No section of the ledger is without its tests, and none is tested twice.

import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { LATER } from './later.ts'
import { ROWS } from './rows.ts'

test('every section has its tests in one place', () => {
  const folder = import.meta.dirname
  const sources = readdirSync(folder).filter((name) => name.endsWith('.test.ts'))
  const text = sources.map((name) => readFileSync(`${folder}/${name}`, 'utf8')).join('\n')
  const proved = [...text.matchAll(/^ledger\(\s*'([^']+)'/gm)].map(([, section]) => section)
  expect(proved.toSorted()).toEqual(Object.keys(ROWS).toSorted())
})

test('no row is there twice, and none of those left for later is claimed', () => {
  for (const [section, rows] of Object.entries<readonly string[]>(ROWS)) {
    expect(new Set(rows).size).toBe(rows.length)
    const later = LATER.filter((one) => one.section === section).map(({ row }) => row)
    expect(rows.filter((row) => later.includes(row))).toEqual([])
  }
})
