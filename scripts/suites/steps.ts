// Runs the steps of a command, and says at its end how long each took, what failed and how many tests there were.
import { type Outcome, runCommand } from '../../tools/programs/command.ts'
import { failingLines, listFailures, listPassedAlone } from './failures.ts'
import type { MergedCount } from './passed-alone.ts'
import type { Count } from './test-counts.ts'

interface Step extends Count, Partial<Pick<MergedCount, 'passedAlone'>> {
  name: string
  seconds: number
}

const NOTHING: Count = { passed: 0, failed: 0, skipped: 0, failures: [] }

export class Steps {
  readonly #steps: Step[] = []

  /** The number of tests that passed or failed, in the steps that have ended. */
  get ran(): number {
    return this.#total('passed') + this.#total('failed')
  }

  async run(name: string, work: () => Promise<Count>): Promise<void> {
    const start = performance.now()
    console.log(`\n${name} …`)
    const count = await work().catch((error: Error) => {
      console.error(error.message)
      return failed([{ name: error.message }])
    })
    this.#steps.push({ name, ...count, seconds: (performance.now() - start) / 1000 })
  }

  /** Prints the summary, whose last line is `N passed, N failed`, and sets the exit code. */
  summarize(): void {
    console.log()
    for (const one of this.#steps)
      console.log(`${one.name.padEnd(10)}${one.seconds.toFixed(1).padStart(7)} s   ${lineOf(one)}`)
    for (const line of [...listPassedAlone(this.#steps), ...listFailures(this.#steps)]) console.log(line)
    const all = {
      passed: this.#total('passed'),
      failed: this.#total('failed'),
      skipped: this.#total('skipped'),
    }
    console.log(`\n${lineOf(all)}`)
    process.exitCode = all.failed > 0 || all.passed === 0 ? 1 : 0
  }

  #total(key: 'passed' | 'failed' | 'skipped'): number {
    return this.#steps.reduce((sum, one) => sum + one[key], 0)
  }
}

export interface CheckOptions {
  timeoutMs: number
  /**
   * Shows the output of a command that succeeds, too.
   * @default false
   */
  show?: boolean
  env?: Record<string, string>
  isBackground?: boolean
}

/** Runs a command that passes or fails as a whole. */
export async function check(
  command: string[],
  { timeoutMs, show = false, env = {}, isBackground = false }: CheckOptions,
): Promise<Count> {
  return verdict(await runCommand(command, { timeoutMs, quiet: true, env, isBackground }), show)
}

export function verdict({ ok, output }: Outcome, show = false): Count {
  if (!ok || show) console.log(output.trimEnd())
  return ok ? { ...NOTHING, passed: 1 } : failed(failingLines(output))
}

export function failed(failures: Count['failures']): Count {
  return { ...NOTHING, failed: 1, failures }
}

function lineOf({ passed, failed: bad, skipped }: Omit<Count, 'failures'>): string {
  return `${passed} passed, ${bad} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}
