// Everything that must hold: lint, linear regular expressions, imports between folders, rules of the protocol and their tests,
// types, unused code, the tarballs of the packages, unit tests, the end-to-end suite and the size of a page.
// With CI set, half a minute of the soak as well. `npm test`, or `npm test -- FILTER…` for the tests whose file, else
// whose name, matches. With --whole, large tests run whole and not a slice of them. The last lines: what failed, why, and the counts.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { ensureCertutil, ensureChromium } from '../tools/programs/chromium.ts'
import { type Outcome, runCommand } from '../tools/programs/command.ts'
import { ensureServices } from '../tools/programs/services.ts'
import { ensureShells } from '../tools/programs/shells.ts'
import { ensureTlsClients } from '../tools/programs/tls-clients.ts'
import { failingLines, listFailures, listPassedAlone } from './suites/failures.ts'
import { filesToRepeat, type MergedCount, mergeRepeated } from './suites/passed-alone.ts'
import { type Count, readPlaywright, readVitest } from './suites/test-counts.ts'
import { writeTypePrograms } from './suites/type-programs.ts'

/** Longest that one step may take, in milliseconds: they end what hangs, for a busy machine takes several times as long. */
const CHECK_TIMEOUT_MS: number = 6 * 60_000
const SUITE_TIMEOUT_MS: number = 25 * 60_000
/** A minute when all is well; an attack that succeeds is waited for. */
const ATTACK_TIMEOUT_MS: number = 10 * 60_000
/** Half a minute and its recovery when all is well. */
const CI_SOAK_TIMEOUT_MS: number = 6 * 60_000
/** Type-checks side by side, each with one thread: threads of one program would check the same types again. */
const TSC_PARALLEL = 2

/** How many times as long the suites may take with --whole. */
const WHOLE_SLOWNESS = 3

interface Step extends Count, Partial<Pick<MergedCount, 'passedAlone'>> {
  name: string
  seconds: number
}

const NOTHING: Count = { passed: 0, failed: 0, skipped: 0, failures: [] }
const temporary = mkdtempSync(path.join(tmpdir(), 'svc-test-'))
const steps: Step[] = []
let reports = 0
const { values: options, positionals: filters } = parseArgs({
  options: { whole: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const depth = options.whole
  ? { env: { TEST_DEPTH: 'whole' }, slowness: WHOLE_SLOWNESS }
  : { env: {}, slowness: 1 }

if (filters.length === 0) await runAll()
else await runMatching(filters)
rmSync(temporary, { recursive: true })
summarize()

async function runAll(): Promise<void> {
  // None of these judges anything by the clock. Attack and soak wait more than they compute.
  const waiting = Promise.all([step('attack', attack), process.env.CI && step('soak', soak)])
  await Promise.all([
    step('lint', () => check(['biome', 'check', '--error-on-warnings', '--max-diagnostics=50', '.'])),
    step('patterns', () => check(['node', 'scripts/lint/regular-expressions.ts'])),
    step('folders', () => check(['node', 'scripts/lint/folders.ts'])),
    step('rules', () => check(['node', 'scripts/lint/protocol-rules.ts'])),
    step('unused', () => check(['knip', '--no-progress'])),
    step('packages', () => check(['node', 'scripts/packages/slice.ts'])),
    step('size', () => check(['node', 'scripts/size.ts'], true)),
  ])
  await step('types', checkTypes)
  // They would disturb what is timed in the suites.
  await waiting
  await step('unit', () => steady(vitest, ['--no-file-parallelism']))
  await step('e2e', () => steady(playwright, ['--workers=1']))
}

/** Runs a suite, and the few files that failed once more, alone: a real fault fails twice. */
async function steady(suite: (args: string[]) => Promise<Count>, alone: string[]): Promise<Count> {
  const first = await suite([])
  const files = filesToRepeat(first)
  if (files.length === 0) return first
  console.log(`\nOnce more, alone: ${files.join(' ')}`)
  return mergeRepeated(first, await suite([...alone, ...files]))
}

/** Chooses tests by path, and only if no path matches by name. */
async function runMatching(words: string[]): Promise<void> {
  await step('unit', () => vitest(['--passWithNoTests', ...words]))
  await step('e2e', () => playwright(['--pass-with-no-tests', ...words]))
  if (steps.some((one) => one.passed + one.failed > 0)) return
  steps.length = 0
  const name = words.join('|')
  // Vitest reports what a name filter leaves out as skipped.
  await step('unit', async () => ({ ...(await vitest(['--passWithNoTests', '-t', name])), skipped: 0 }))
  await step('e2e', () => playwright(['--pass-with-no-tests', '--grep', name]))
  if (steps.some((one) => one.passed + one.failed > 0)) return
  console.error(`No test matches ${words.join(' ')}`)
  await step('filter', async () => ({ ...NOTHING, failed: 1 }))
}

async function step(name: string, run: () => Promise<Count>): Promise<void> {
  const start = performance.now()
  console.log(`\n${name} …`)
  const count = await run().catch((error: Error) => {
    console.error(error.message)
    return { ...NOTHING, failed: 1, failures: [{ name: error.message }] }
  })
  steps.push({ name, ...count, seconds: (performance.now() - start) / 1000 })
}

async function check(command: string[], show = false): Promise<Count> {
  return verdict(await runCommand(command, { timeoutMs: CHECK_TIMEOUT_MS, quiet: true }), show)
}

async function soak(): Promise<Count> {
  const command = ['node', 'scripts/soak.ts', '--slice']
  return verdict(await runCommand(command, { timeoutMs: CI_SOAK_TIMEOUT_MS, quiet: true }), true)
}

async function attack(): Promise<Count> {
  const command = ['node', 'scripts/attack.ts', '--slice']
  return verdict(await runCommand(command, { timeoutMs: ATTACK_TIMEOUT_MS, quiet: true }), true)
}

async function checkTypes(): Promise<Count> {
  const programs = writeTypePrograms(temporary)
  const outcomes: Outcome[] = []
  const worker = async (): Promise<void> => {
    for (let program = programs.pop(); program !== undefined; program = programs.pop()) {
      const command = ['tsc', '-p', program, '--singleThreaded']
      outcomes.push(await runCommand(command, { timeoutMs: CHECK_TIMEOUT_MS, quiet: true }))
    }
  }
  await Promise.all(Array.from({ length: TSC_PARALLEL }, worker))
  return verdict({ ok: outcomes.every((one) => one.ok), output: outcomes.map((one) => one.output).join('') })
}

function verdict({ ok, output }: Outcome, show = false): Count {
  if (!ok || show) console.log(output.trimEnd())
  return ok ? { ...NOTHING, passed: 1 } : { ...NOTHING, failed: 1, failures: failingLines(output) }
}

async function vitest(args: string[]): Promise<Count> {
  ensureServices()
  ensureShells()
  const report = newReport()
  const unhandled = newReport()
  // A person who names files wants to see what is in them; by name, the list would be of all that is left out.
  const list = args.length > 0 && !args.includes('-t') ? 'verbose' : 'default'
  const reporters = [list, 'json', './scripts/suites/unhandled-errors.ts'].map((name) => `--reporter=${name}`)
  reporters.push(`--outputFile.json=${report}`)
  const env = { ...depth.env, ...ensureTlsClients(), UNHANDLED_ERRORS: unhandled }
  const command = ['vitest', 'run', ...reporters, ...args]
  return counted(
    await runCommand(command, { timeoutMs: suiteTimeoutMs(), env }),
    readVitest(report, unhandled),
  )
}

async function playwright(args: string[]): Promise<Count> {
  const chromium = ensureChromium()
  ensureCertutil()
  const report = newReport()
  const env = { ...depth.env, CHROMIUM_PATH: chromium, PLAYWRIGHT_JSON_OUTPUT_FILE: report }
  const command = ['playwright', 'test', '--reporter=list,json', ...args]
  return counted(await runCommand(command, { timeoutMs: suiteTimeoutMs(), env }), readPlaywright(report))
}

function suiteTimeoutMs(): number {
  return depth.slowness * SUITE_TIMEOUT_MS
}

function newReport(): string {
  reports += 1
  return path.join(temporary, `${reports}.json`)
}

/** A suite that ended badly has failed, whatever its report says. */
function counted({ ok, output }: Outcome, count: Count = NOTHING): Count {
  if (output !== '') console.log(output.trim())
  return !ok && count.failed === 0 ? { ...count, failed: 1, failures: failingLines(output) } : count
}

function summarize(): void {
  const total = (key: 'passed' | 'failed' | 'skipped'): number =>
    steps.reduce((sum, one) => sum + one[key], 0)
  const line = ({ passed, failed, skipped }: Omit<Count, 'failures'>): string =>
    `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
  console.log()
  for (const one of steps)
    console.log(`${one.name.padEnd(10)}${one.seconds.toFixed(1).padStart(7)} s   ${line(one)}`)
  for (const line of [...listPassedAlone(steps), ...listFailures(steps)]) console.log(line)
  console.log(`\n${line({ passed: total('passed'), failed: total('failed'), skipped: total('skipped') })}`)
  process.exitCode = total('failed') > 0 || total('passed') === 0 ? 1 : 0
}
