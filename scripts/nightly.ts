// What is too long for each change, one after the other: `npm run nightly [-- PART…]`, by default every part. Tests choose at random by the
// date here: what fails repeats with TEST_SEED, which the first line says.
import '../tools/whole-tests.ts'
import { TEST_SEED } from '../tools/test-depth.ts'
import { check, Steps } from './suites/steps.ts'
import { createSuites } from './suites/tests.ts'
import { hidingProgram, OPTIONAL_PROGRAMS } from './suites/without-program.ts'

const HOUR_MS: number = 60 * 60_000
const seed: string[] = ['--seed', String(TEST_SEED)]
const suites = createSuites(true)

/** Each part by its name: `npm run nightly -- NAME` runs it alone. */
const PARTS: Readonly<Record<string, (steps: Steps) => Promise<void>>> = {
  unit: (steps) => steps.run('unit', () => suites.unit([])),
  e2e: (steps) => steps.run('e2e', () => suites.e2e([])),
  packages: command('scripts/packages/slice.ts'),
  attack: command('stress/attack.ts', ...seed),
  fuzz: command('scripts/fuzz.ts', 'all', '60s', ...seed),
  soak: command('stress/soak.ts', '30', ...seed),
  machines: command('stress/soak.ts', 'machines', '30', ...seed),
  crash: command('stress/crash.ts'),
  without: withoutPrograms,
}

const chosen = process.argv.slice(2)
const unknown = chosen.find((name) => !Object.hasOwn(PARTS, name))
if (unknown !== undefined) {
  console.error(`Usage: npm run nightly [-- PART…]; PART is one of ${Object.keys(PARTS).join(', ')}`)
  process.exit(2)
}
console.log(`TEST_SEED=${TEST_SEED}`)
const steps = new Steps()
for (const name of chosen.length > 0 ? chosen : Object.keys(PARTS)) await PARTS[name]!(steps)
steps.summarize()

function command(script: string, ...args: string[]): (steps: Steps) => Promise<void> {
  return (all) =>
    all.run(script, () => check(['node', script, ...args], { timeoutMs: 2 * HOUR_MS, show: true }))
}

/** The tests of `npm test` where one program is not there: they say what they use, and are skipped then. */
async function withoutPrograms(all: Steps): Promise<void> {
  for (const program of OPTIONAL_PROGRAMS)
    await all.run(`no ${program}`, async () => {
      const { path, remove } = hidingProgram(program)
      const env = { PATH: path, TEST_DEPTH: 'slice' }
      const run = ['vitest', 'run', '--project=node*', '--reporter=dot']
      try {
        return await check(run, { timeoutMs: HOUR_MS, env })
      } finally {
        remove()
      }
    })
}
