// Counting: a broken file, a flaky test and a global error are failures, and the summary names them.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { root } from '../../tools/programs/command.ts'
import { failingLines, listFailures } from '../suites/failures.ts'
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
    {
      name: path.join(root, 'a.test.ts'),
      status: 'failed',
      message: 'no module\nat …',
      assertionResults: [],
    },
    {
      name: path.join(root, 'b.test.ts'),
      status: 'failed',
      assertionResults: [
        { status: 'failed', fullName: 'it adds' },
        { status: 'passed', fullName: 'it subtracts' },
      ],
    },
    {
      name: path.join(root, 'c.test.ts'),
      status: 'passed',
      assertionResults: [{ status: 'passed', fullName: 'it is' }],
    },
  ]
  const counts = { numPassedTests: 2, numFailedTests: 1, numPendingTests: 1, numTodoTests: 1 }
  expect(readVitest(report({ ...counts, testResults }))).toEqual({
    passed: 2,
    failed: 2,
    skipped: 2,
    failures: ['b.test.ts: it adds', 'a.test.ts: no module'],
  })
})

test('Playwright: flaky tests and errors outside of tests are failures', () => {
  const stats = { expected: 5, unexpected: 1, flaky: 1, skipped: 3 }
  const spec = (title: string, status: string): object => ({
    file: 'a.spec.ts',
    line: 7,
    title,
    tests: [{ status }],
  })
  const inner = { specs: [spec('it flickers', 'flaky')] }
  const suites = [{ specs: [spec('it serves', 'unexpected'), spec('it ends', 'expected')], suites: [inner] }]
  expect(readPlaywright(report({ stats, suites, errors: [{ message: 'no setup\nat …' }] }))).toEqual({
    passed: 5,
    failed: 3,
    skipped: 3,
    failures: ['a.spec.ts:7: it serves', 'a.spec.ts:7: it flickers', 'no setup'],
  })
})

test('no report is not a count of zero', () => {
  expect(readVitest(path.join(directory, 'none.json'))).toBeUndefined()
  expect(readPlaywright(path.join(directory, 'none.json'))).toBeUndefined()
})

test('the summary names what failed, of each step, in lines that a log keeps', () => {
  const unit = Array.from({ length: 100 }, (_, number) => `a.test.ts: test ${number} ${'x'.repeat(1000)}`)
  const steps = [
    { name: 'lint', failed: 0, failures: [] },
    { name: 'unit', failed: unit.length, failures: unit },
    { name: 'attack', failed: 1, failures: ['kills: a start failed'] },
    { name: 'size', failed: 1, failures: [] },
  ]
  const lines = listFailures(steps)
  expect(lines.length).toBeLessThanOrEqual(40)
  expect(lines.every((line) => line.length <= 200)).toBe(true)
  expect(lines[0]).toMatch(/^✗ unit: a\.test\.ts: test 0 /)
  expect(lines.slice(-3)).toEqual(['✗ unit: … and 88 more', '✗ attack: kills: a start failed', '✗ size'])
})

test('of a command that failed the lines that say so are kept, else the last ones', () => {
  const attack =
    'Attacking\n✓ kills: kill -9\n\n✗ full-disk: the disk is full\n    a table\n  ✗ honest new: 1 failed\n'
  expect(failingLines(attack)).toEqual(['✗ full-disk: the disk is full', '  ✗ honest new: 1 failed'])
  const plain = Array.from({ length: 20 }, (_, number) => `line ${number}`).join('\n')
  expect(failingLines(plain)).toEqual(plain.split('\n').slice(-8))
})
