// Reads how many tests passed, and which did not, from the JSON reports of Vitest and Playwright.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { root } from '../../tools/programs/command.ts'

export interface Count {
  passed: number
  failed: number
  skipped: number
  /** The names of what failed, with the files. */
  failures: readonly string[]
}

interface VitestReport {
  numPassedTests: number
  numFailedTests: number
  numPendingTests: number
  numTodoTests: number
  testResults: {
    /** The path of the file. */
    name: string
    status: string
    message?: string
    assertionResults: { status: string; fullName: string }[]
  }[]
}

/** A file that fails before its first test counts as one failure. @returns undefined when there is no report */
export function readVitest(file: string): Count | undefined {
  const report = readJson<VitestReport>(file)
  if (report === undefined) return undefined
  const broken = report.testResults.filter(
    (one) => one.status === 'failed' && one.assertionResults.length === 0,
  )
  const failures = report.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName }) => `${path.relative(root, name)}: ${fullName}`),
  )
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken.length,
    skipped: report.numPendingTests + report.numTodoTests,
    failures: [
      ...failures,
      ...broken.map(({ name, message = '' }) => `${path.relative(root, name)}: ${firstLine(message)}`),
    ],
  }
}

interface PlaywrightReport {
  stats: { expected: number; unexpected: number; flaky: number; skipped: number }
  errors: { message?: string }[]
  suites: PlaywrightSuite[]
}

interface PlaywrightSuite {
  specs: { file: string; line: number; title: string; tests: { status: string }[] }[]
  suites?: PlaywrightSuite[]
}

/** A flaky test is one that failed. @returns undefined when there is no report */
export function readPlaywright(file: string): Count | undefined {
  const report = readJson<PlaywrightReport>(file)
  if (report === undefined) return undefined
  const { expected, unexpected, flaky, skipped } = report.stats
  return {
    passed: expected,
    failed: unexpected + flaky + report.errors.length,
    skipped,
    failures: [
      ...report.suites.flatMap(failuresIn),
      ...report.errors.map(({ message = '' }) => firstLine(message)),
    ],
  }
}

function failuresIn({ specs, suites = [] }: PlaywrightSuite): string[] {
  const failed = specs.filter(({ tests }) => tests.some(({ status }) => /^(unexpected|flaky)$/.test(status)))
  return [
    ...failed.map(({ file, line, title }) => `${file}:${line}: ${title}`),
    ...suites.flatMap(failuresIn),
  ]
}

function firstLine(text: string): string {
  return text.trimStart().split('\n', 1)[0]!
}

function readJson<T>(file: string): T | undefined {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}
