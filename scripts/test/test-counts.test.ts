// Counting: a broken file, a flaky test and a global error are failures.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readPlaywright, readVitest } from '../suites/test-counts.ts'

const directory = mkdtempSync(path.join(tmpdir(), 'svc-reports-'))
afterAll(() => rmSync(directory, { recursive: true }))

function report(content: unknown): string {
  const file = path.join(directory, 'report.json')
  writeFileSync(file, JSON.stringify(content))
  return file
}

test('Vitest: a file that fails before its first test is one failure', () => {
  const testResults = [
    { status: 'failed', assertionResults: [] },
    { status: 'failed', assertionResults: [{}, {}] },
    { status: 'passed', assertionResults: [{}] },
  ]
  const counts = { numPassedTests: 2, numFailedTests: 1, numPendingTests: 1, numTodoTests: 1 }
  expect(readVitest(report({ ...counts, testResults }))).toEqual({ passed: 2, failed: 2, skipped: 2 })
})

test('Playwright: flaky tests and errors outside of tests are failures', () => {
  const stats = { expected: 5, unexpected: 1, flaky: 1, skipped: 3 }
  expect(readPlaywright(report({ stats, errors: [{}] }))).toEqual({ passed: 5, failed: 3, skipped: 3 })
})

test('no report is not a count of zero', () => {
  expect(readVitest(path.join(directory, 'none.json'))).toBeUndefined()
  expect(readPlaywright(path.join(directory, 'none.json'))).toBeUndefined()
})
