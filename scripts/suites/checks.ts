// The checks that run no test: lint, spelling, imports, rules of the protocol, unused code, what a page loads, and types.
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { type Outcome, root, runCommand } from '../../tools/programs/command.ts'
import { check, type Steps, verdict } from './steps.ts'
import type { Count } from './test-counts.ts'
import { writeTypePrograms } from './type-programs.ts'

/** Longest that one of them may take, in milliseconds: they end what hangs. */
const TIMEOUT_MS: number = 6 * 60_000
/** How many times as long it may take in the background. */
const BACKGROUND_SLOWNESS = 4
/** Type-checks side by side, each with one thread: threads of one program would check the same types again. */
const TSC_PARALLEL = 2
const SPELLING = [
  'cspell',
  '--no-progress',
  '--no-summary',
  '--cache',
  '--cache-location',
  'node_modules/.cache/cspell',
]
/** Here, what the compiler knows of the last run is kept: an unchanged program takes seconds. */
const TYPES_CACHE: string = path.join(root, 'node_modules/.cache/types')

/** Whether checks take only the processor time that no other program wants. */
interface Manner {
  isBackground: boolean
}

const FOREGROUND: Manner = { isBackground: false }

/**
 * Checks without types, side by side.
 * @param files that are linted, from the root of the repository; by default all
 */
export async function runChecks(
  steps: Steps,
  files: readonly string[] = ['.'],
  manner: Manner = FOREGROUND,
): Promise<void> {
  const limits = limitsOf(manner)
  const lint = ['biome', 'check', '--error-on-warnings', '--max-diagnostics=50', '--no-errors-on-unmatched']
  await Promise.all([
    // Without files, Biome would check all.
    files.length > 0 && steps.run('lint', () => check([...lint, ...files], limits)),
    steps.run('spelling', () => check(SPELLING, limits)),
    steps.run('patterns', () => check(['node', 'scripts/lint/regular-expressions.ts'], limits)),
    steps.run('imports', () => check(['node', 'scripts/lint/imports.ts'], limits)),
    steps.run('rules', () => check(['node', 'scripts/lint/protocol-rules.ts'], limits)),
    steps.run('unused', () => check(['knip', '--no-progress'], limits)),
    steps.run('size', () => check(['node', 'scripts/size.ts'], { ...limits, show: true })),
  ])
}

export async function checkTypes(manner: Manner = FOREGROUND): Promise<Count> {
  mkdirSync(TYPES_CACHE, { recursive: true })
  const programs = writeTypePrograms(TYPES_CACHE)
  const outcomes: Outcome[] = []
  const worker = async (): Promise<void> => {
    for (let program = programs.shift(); program !== undefined; program = programs.shift()) {
      const options = ['--singleThreaded', '--incremental', '--tsBuildInfoFile', `${program}.tsbuildinfo`]
      outcomes.push(
        await runCommand(['tsc', '-p', program, ...options], { ...limitsOf(manner), quiet: true }),
      )
    }
  }
  await Promise.all(Array.from({ length: TSC_PARALLEL }, worker))
  return verdict({ ok: outcomes.every((one) => one.ok), output: outcomes.map((one) => one.output).join('') })
}

function limitsOf({ isBackground }: Manner): { timeoutMs: number; isBackground: boolean } {
  return { timeoutMs: isBackground ? BACKGROUND_SLOWNESS * TIMEOUT_MS : TIMEOUT_MS, isBackground }
}
