// The page that tells what is covered is made from the ledger, and from nothing else.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { COVERAGE_PAGE, coveragePage } from './page.ts'

const page = readFileSync(COVERAGE_PAGE, 'utf8')

test('docs/coverage.md is up to date; else: npm run coverage', () => {
  expect(page).toBe(coveragePage())
})

test('it links files that are there', () => {
  const links = [...page.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => `${link}`)
  expect(links.length).toBeGreaterThan(100)
  const missing = links.filter((link) => !existsSync(path.join(path.dirname(COVERAGE_PAGE), link)))
  expect(missing).toEqual([])
})

test('it has rows of both texts, for the relay and both SDKs', () => {
  const rows = page.match(/^\| (?:Specification|Wire|Both texts).*$/gm) ?? []
  expect(rows.map((row) => row.split(' | ')[1])).toEqual(['relay', 'relay', 'sdk-browser', 'sdk-node'])
})
