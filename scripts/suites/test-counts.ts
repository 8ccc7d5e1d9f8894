// Reads how many tests passed, and which did not, from the JSON reports of Vitest and Playwright.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { root } from '../../tools/programs/command.ts'
import type { UnhandledError } from './unhandled-errors.ts'

export interface Count {
  passed: number
  failed: number
  skipped: number
  failures: readonly Failure[]
}

export interface Failure {
  /** With the file, where there is one. */
  name: string
  /** The test file, from the root of the repository; without one, it is no failure of a single file. */
  file?: string
  message?: string
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
    assertionResults: { status: string; fullName: string; failureMessages?: string[] }[]
  }[]
}

/**
 * A file that fails outside of its tests counts as one failure, and so does each error that belongs to no test.
 * @param unhandled of the reporter in `unhandled-errors.ts`
 * @returns undefined when there is no report
 */
export function readVitest(file: string, unhandled?: string): Count | undefined {
  const report = readJson<VitestReport>(file)
  if (report === undefined) return undefined
  const broken = report.testResults.filter(
    (one) => one.status === 'failed' && one.assertionResults.every(({ status }) => status !== 'failed'),
  )
  const errors = (unhandled === undefined ? undefined : readJson<UnhandledError[]>(unhandled)) ?? []
  const failures = report.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName, failureMessages = [] }) => failureIn(name, fullName, failureMessages.join('\n'))),
  )
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken.length + errors.length,
    skipped: report.numPendingTests + report.numTodoTests,
    failures: [
      ...failures,
      ...broken.map(({ name, message = '' }) =>
        failureIn(name, firstLine(message) || 'outside of its tests', message),
      ),
      ...errors.map(({ message, file }) => {
        const title = `unhandled: ${firstLine(message)}`
        return file === undefined ? { name: title, message } : failureIn(file, title, message)
      }),
    ],
  }
}

function failureIn(absolute: string, title: string, message: string): Failure {
  const file = path.relative(root, absolute)
  return { name: `${file}: ${title}`, file, message: stripVTControlCharacters(message) }
}

interface PlaywrightReport {
  stats: { expected: number; unexpected: number; flaky: number; skipped: number }
  errors: { message?: string }[]
  suites: PlaywrightSuite[]
}

interface PlaywrightSuite {
  specs: { file: string; line: number; title: string; tests: PlaywrightTest[] }[]
  suites?: PlaywrightSuite[]
}

interface PlaywrightTest {
  status: string
  results?: { errors?: { message?: string }[] }[]
}

/** Reports name its files from here. */
const PLAYWRIGHT_FOLDER = 'e2e'

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
      ...report.errors.map(({ message = '' }) => ({ name: firstLine(message), message })),
    ],
  }
}

function failuresIn({ specs, suites = [] }: PlaywrightSuite): Failure[] {
  const failed = specs.filter(({ tests }) => tests.some(({ status }) => /^(unexpected|flaky)$/.test(status)))
  return [
    ...failed.map(({ file, line, title, tests }) => ({
      name: `${file}:${line}: ${title}`,
      file: path.join(PLAYWRIGHT_FOLDER, file),
      message: stripVTControlCharacters(tests.flatMap(messagesOf).join('\n')),
    })),
    ...suites.flatMap(failuresIn),
  ]
}

function messagesOf({ results = [] }: PlaywrightTest): string[] {
  return results.flatMap(({ errors = [] }) => errors.map(({ message = '' }) => message))
}

function firstLine(text: string): string {
  return text.trimStart().split('\n', 1)[0]!
}

function readJson<T>(file: string): T | undefined {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}
