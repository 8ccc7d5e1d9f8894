// What must hold before a change goes in: lint, linear regular expressions, imports between folders, rules of the protocol and
// their tests, types, unused code, unit tests, the end-to-end suite and the size of a page; what takes longer is in nightly.ts.
// `npm test`, or `npm test -- FILTER…` for the tests whose file, else whose name, matches. With --whole, tests that are left to
// the night run, too, and large tests run whole and not a slice of them. The last lines: what failed, why, and the counts.
import { parseArgs } from 'node:util'
import { checkTypes, runChecks } from './suites/checks.ts'
import { failed, Steps } from './suites/steps.ts'
import { createSuites } from './suites/tests.ts'

const { values: options, positionals: filters } = parseArgs({
  options: { whole: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const suites = createSuites(options.whole)
const steps = filters.length === 0 ? await runAll() : await runMatching(filters)
steps.summarize()

async function runAll(): Promise<Steps> {
  const all = new Steps()
  await Promise.all([runChecksBeside(all), all.run('unit', () => suites.steady('unit'))])
  await all.run('e2e', () => suites.steady('e2e'))
  return all
}

/** Many unit tests wait for a clock: the checks take the processor time that they leave. */
async function runChecksBeside(all: Steps): Promise<void> {
  await runChecks(all, ['.'], { isBackground: true })
  await all.run('types', () => checkTypes({ isBackground: true }))
}

/** Chooses tests by path, and only if no path matches by name. */
async function runMatching(words: string[]): Promise<Steps> {
  const byPath = new Steps()
  await byPath.run('unit', () => suites.unit(['--passWithNoTests', ...words]))
  await byPath.run('e2e', () => suites.e2e(['--pass-with-no-tests', ...words]))
  if (byPath.ran > 0) return byPath
  const byName = new Steps()
  const name = words.join('|')
  // Vitest reports what a name filter leaves out as skipped.
  await byName.run('unit', async () => ({
    ...(await suites.unit(['--passWithNoTests', '-t', name])),
    skipped: 0,
  }))
  await byName.run('e2e', () => suites.e2e(['--pass-with-no-tests', '--grep', name]))
  if (byName.ran > 0) return byName
  const none = `No test matches ${words.join(' ')}; those that are left to the night need --whole`
  await byName.run('filter', async () => failed([{ name: none }]))
  return byName
}
