// Runs Vitest and Playwright: with the programs that their tests use, a report that is counted, and a second try alone.
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ensureCertutil, ensureChromium } from '../../tools/programs/chromium.ts'
import { type Outcome, runCommand } from '../../tools/programs/command.ts'
import { ensureServices } from '../../tools/programs/services.ts'
import { ensureShells } from '../../tools/programs/shells.ts'
import { ensureTlsClients } from '../../tools/programs/tls-clients.ts'
import { failingLines } from './failures.ts'
import { filesToRepeat, mergeRepeated } from './passed-alone.ts'
import { failed } from './steps.ts'
import { type Count, readPlaywright, readVitest } from './test-counts.ts'

/** Longest that one suite may take, in milliseconds: it ends what hangs, for a busy machine takes several times as long. */
const TIMEOUT_MS: number = 25 * 60_000
/** How many times as long the whole depth may take. */
const WHOLE_SLOWNESS = 4

/** Runs a suite. `args` are of its program: file filters and options. */
type Suite = (args: readonly string[]) => Promise<Count>

export interface Suites {
  unit: Suite
  e2e: Suite
  /** Runs a suite, and the few files that failed once more, alone: a real fault fails twice. */
  steady(suite: 'unit' | 'e2e'): Promise<Count>
}

/** @param isWhole runs large tests whole, and not a slice of them */
export function createSuites(isWhole: boolean): Suites {
  const timeoutMs = isWhole ? WHOLE_SLOWNESS * TIMEOUT_MS : TIMEOUT_MS
  const depth: Record<string, string> = isWhole ? { TEST_DEPTH: 'whole' } : {}

  const unit: Suite = async (args) => {
    ensureServices()
    ensureShells()
    // A person who names files wants to see what is in them; by name, the list would be of all that is left out.
    const list = args.length > 0 && !args.includes('-t') ? 'verbose' : 'default'
    const reporters = [list, 'json', './scripts/suites/unhandled-errors.ts'].map(
      (name) => `--reporter=${name}`,
    )
    return await withFolder(async (folder) => {
      const [report, unhandled] = ['report.json', 'unhandled.json'].map((name) => path.join(folder, name))
      const env = { ...depth, ...ensureTlsClients(), UNHANDLED_ERRORS: unhandled! }
      const command = ['vitest', 'run', ...reporters, `--outputFile.json=${report}`, ...args]
      return counted(await runCommand(command, { timeoutMs, env }), readVitest(report!, unhandled))
    })
  }

  const e2e: Suite = async (args) => {
    const chromium = ensureChromium()
    ensureCertutil()
    return await withFolder(async (folder) => {
      const report = path.join(folder, 'report.json')
      const env = { ...depth, CHROMIUM_PATH: chromium, PLAYWRIGHT_JSON_OUTPUT_FILE: report }
      const command = ['playwright', 'test', '--reporter=list,json', ...args]
      return counted(await runCommand(command, { timeoutMs, env }), readPlaywright(report))
    })
  }

  const alone = { unit: '--no-file-parallelism', e2e: '--workers=1' }
  const steady: Suites['steady'] = async (name) => {
    const suite = { unit, e2e }[name]
    const first = await suite([])
    const files = filesToRepeat(first)
    if (files.length === 0) return first
    console.log(`\nOnce more, alone: ${files.join(' ')}`)
    return mergeRepeated(first, await suite([alone[name], ...files]))
  }

  return { unit, e2e, steady }
}

/** A suite that ended badly has failed, whatever its report says. */
function counted({ ok, output }: Outcome, count?: Count): Count {
  if (output !== '') console.log(output.trim())
  if (count === undefined) return failed(failingLines(output))
  return !ok && count.failed === 0 ? { ...count, failed: 1, failures: failingLines(output) } : count
}

async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(path.join(tmpdir(), 'svc-test-'))
  try {
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
