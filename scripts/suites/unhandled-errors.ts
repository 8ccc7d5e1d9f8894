// A reporter of Vitest: writes the errors that belong to no test, which the JSON report leaves out, to the file UNHANDLED_ERRORS.
import { writeFileSync } from 'node:fs'
import type { Reporter } from 'vitest/node'

/** An error that belongs to no test. */
export interface UnhandledError {
  message: string
  /** The path of the test file that ran when it was thrown, where Vitest knows it. */
  file?: string | undefined
}

export default class UnhandledErrors implements Reporter {
  onTestRunEnd(
    _modules: unknown,
    errors: readonly { message: string; stack?: string; VITEST_TEST_PATH?: string }[],
  ): void {
    const report = errors.map(
      ({ message, stack, VITEST_TEST_PATH: file }): UnhandledError => ({ message: stack ?? message, file }),
    )
    if (process.env.UNHANDLED_ERRORS !== undefined)
      writeFileSync(process.env.UNHANDLED_ERRORS, JSON.stringify(report))
  }
}
