// Counting: a broken file, a flaky test and a global error are failures, and the summary names them.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { root } from '../../tools/programs/command.ts'
import { failingLines, listFailures, listPassedAlone } from '../suites/failures.ts'
import { filesToRepeat, mergeRepeated } from '../suites/passed-alone.ts'
import { type Count, readPlaywright, readVitest } from '../suites/test-counts.ts'

const directory = mkdtempSync(path.join(tmpdir(), 'svc-reports-'))
afterAll(() => rmSync(directory, { recursive: true }))

function report(content: unknown, name = 'report.json'): string {
  const file = path.join(directory, name)
  writeFileSync(file, JSON.stringify(content))
  return file
}

test('Vitest: a file that fails outside of its tests is one failure, and so is an error of no file', () => {
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
        { status: 'failed', fullName: 'it adds', failureMessages: ['\u001b[31m1 is not 2\u001b[39m'] },
        { status: 'passed', fullName: 'it subtracts' },
      ],
    },
    {
      name: path.join(root, 'c.test.ts'),
      status: 'passed',
      assertionResults: [{ status: 'passed', fullName: 'it is' }],
    },
    {
      name: path.join(root, 'd.test.ts'),
      status: 'failed',
      assertionResults: [{ status: 'skipped', fullName: 'its hook failed' }],
    },
  ]
  const counts = { numPassedTests: 2, numFailedTests: 1, numPendingTests: 1, numTodoTests: 1 }
  const unhandled = report(
    [{ message: 'Error: too late\nat …' }, { message: 'Error: aborted', file: path.join(root, 'a.test.ts') }],
    'unhandled.json',
  )
  expect(readVitest(report({ ...counts, testResults }), unhandled)).toEqual({
    passed: 2,
    failed: 5,
    skipped: 2,
    failures: [
      { name: 'b.test.ts: it adds', file: 'b.test.ts', message: '1 is not 2' },
      { name: 'a.test.ts: no module', file: 'a.test.ts', message: 'no module\nat …' },
      { name: 'd.test.ts: outside of its tests', file: 'd.test.ts', message: '' },
      { name: 'unhandled: Error: too late', message: 'Error: too late\nat …' },
      { name: 'a.test.ts: unhandled: Error: aborted', file: 'a.test.ts', message: 'Error: aborted' },
    ],
  })
})

test('Playwright: flaky tests and errors outside of tests are failures', () => {
  const stats = { expected: 5, unexpected: 1, flaky: 1, skipped: 3 }
  const spec = (title: string, status: string): object => ({
    file: 'a.spec.ts',
    line: 7,
    title,
    tests: [{ status, results: [{ errors: [{ message: `\u001b[1mit is ${status}\u001b[22m` }] }] }],
  })
  const inner = { specs: [spec('it flickers', 'flaky')] }
  const suites = [{ specs: [spec('it serves', 'unexpected'), spec('it ends', 'expected')], suites: [inner] }]
  expect(readPlaywright(report({ stats, suites, errors: [{ message: 'no setup\nat …' }] }))).toEqual({
    passed: 5,
    failed: 3,
    skipped: 3,
    failures: [
      { name: 'a.spec.ts:7: it serves', file: 'e2e/a.spec.ts', message: 'it is unexpected' },
      { name: 'a.spec.ts:7: it flickers', file: 'e2e/a.spec.ts', message: 'it is flaky' },
      { name: 'no setup', message: 'no setup\nat …' },
    ],
  })
})

test('no report is not a count of zero', () => {
  expect(readVitest(path.join(directory, 'none.json'))).toBeUndefined()
  expect(readPlaywright(path.join(directory, 'none.json'))).toBeUndefined()
})

test('the summary names what failed, of each step, and why, in lines that a log keeps', () => {
  const unit = Array.from({ length: 100 }, (_, number) => ({
    name: `a.test.ts: test ${number} ${'x'.repeat(1000)}`,
    message: Array.from({ length: 100 }, (__, line) => `line ${line} ${'y'.repeat(1000)}`).join('\n'),
  }))
  const steps = [
    { name: 'lint', failed: 0, failures: [] },
    { name: 'unit', failed: unit.length, failures: unit },
    { name: 'attack', failed: 1, failures: [{ name: 'kills: a start failed' }] },
    { name: 'size', failed: 1, failures: [] },
  ]
  const lines = listFailures(steps)
  expect(lines.filter((line) => line.startsWith('✗')).length).toBeLessThanOrEqual(40)
  expect(lines.length).toBeLessThanOrEqual(40 + 6 * 12)
  expect(lines.every((line) => line.length <= 200)).toBe(true)
  expect(lines[0]).toMatch(/^✗ unit: a\.test\.ts: test 0 /)
  expect(lines[1]).toMatch(/^ {4}line 0 /)
  expect(lines[13]).toMatch(/^✗ unit: a\.test\.ts: test 1 /)
  expect(lines.slice(-3)).toEqual(['✗ unit: … and 88 more', '✗ attack: kills: a start failed', '✗ size'])
})

describe('a few files that failed run again alone', () => {
  const failure = (file: string, title: string): Count['failures'][number] => ({
    name: `${file}: ${title}`,
    file,
    message: `${title} failed\nat /node_modules/runner.js\nat …`,
  })
  const count = (passed: number, failures: Count['failures']): Count => ({
    passed,
    failed: failures.length,
    skipped: 1,
    failures,
  })
  const [late, lost, wrong] = [failure('a.ts', 'late'), failure('a.ts', 'lost'), failure('b.ts', 'wrong')]

  test('five at most, and none when something failed that is in no file', () => {
    expect(filesToRepeat(count(9, [late, lost, wrong]))).toEqual(['a.ts', 'b.ts'])
    expect(filesToRepeat(count(9, []))).toEqual([])
    const many = (length: number): Count =>
      count(
        9,
        Array.from({ length }, (_, number) => failure(`${number}.ts`, 'late')),
      )
    expect(filesToRepeat(many(5))).toHaveLength(5)
    expect(filesToRepeat(many(6))).toEqual([])
    expect(filesToRepeat(count(9, [late, { name: 'unhandled' }]))).toEqual([])
    expect(filesToRepeat({ ...count(9, [late]), failed: 2 })).toEqual([])
  })

  test('what passes then has passed, and the summary says so, with the first reason', () => {
    const merged = mergeRepeated(count(9, [late, lost]), count(4, []))
    expect(merged).toEqual({ passed: 11, failed: 0, skipped: 1, failures: [], passedAlone: [late, lost] })
    expect(listPassedAlone([{ name: 'lint' }, { name: 'unit', ...merged }]).slice(0, 4)).toEqual([
      '~ unit: a.ts: late: passed alone, failed beside others',
      '    late failed',
      '    at …',
      '~ unit: a.ts: lost: passed alone, failed beside others',
    ])
  })

  test('a file that fails twice has failed, with what failed each time', () => {
    const other = failure('a.ts', 'another')
    expect(mergeRepeated(count(9, [late, lost, wrong]), count(4, [lost, other]))).toEqual({
      passed: 10,
      failed: 3,
      skipped: 1,
      failures: [late, lost, other],
      passedAlone: [wrong],
    })
  })

  test.each<[string, Count]>([
    ['ran nothing', count(0, [])],
    ['failed in no file', count(4, [{ name: 'unhandled' }])],
    ['failed without a reason', { ...count(4, []), failed: 1 }],
  ])('a run that %s proves nothing', (_, again) => {
    expect(mergeRepeated(count(9, [late]), again)).toEqual({ ...count(9, [late]), passedAlone: [] })
  })
})

test('of a command that failed the lines that say so are kept, else the last ones', () => {
  const attack =
    'Attacking\n✓ kills: kill -9\n\n✗ full-disk: the disk is full\n    a table\n  ✗ honest new: 1 failed\n'
  const names = (output: string): string[] => failingLines(output).map(({ name }) => name)
  expect(names(attack)).toEqual(['✗ full-disk: the disk is full', '  ✗ honest new: 1 failed'])
  const plain = Array.from({ length: 20 }, (_, number) => `line ${number}`).join('\n')
  expect(names(plain)).toEqual(plain.split('\n').slice(-8))
})
