// A reporter of Vitest: writes the errors that belong to no test, which the JSON report leaves out, to the file UNHANDLED_ERRORS.
import { writeFileSync } from 'node:fs'
import type { Reporter } from 'vitest/node'

export default class UnhandledErrors implements Reporter {
  onTestRunEnd(_modules: unknown, errors: readonly { message: string; stack?: string }[]): void {
    const messages = errors.map(({ message, stack }) => stack ?? message)
    if (process.env.UNHANDLED_ERRORS !== undefined)
      writeFileSync(process.env.UNHANDLED_ERRORS, JSON.stringify(messages))
  }
}
