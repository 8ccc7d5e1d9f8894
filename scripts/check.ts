// `npm run check`: what a change can break, in a minute: lint of the files that changed since the main branch, the other checks,
// types, and the unit tests that import what changed.
import { execFileSync } from 'node:child_process'
import { root } from '../tools/programs/command.ts'
import { checkTypes, runChecks } from './suites/checks.ts'
import { Steps } from './suites/steps.ts'
import { createSuites } from './suites/tests.ts'

const base = git('merge-base', 'HEAD', 'main')[0]!
const changed = git('diff', '--name-only', '--diff-filter=d', base)
const added = git('ls-files', '--others', '--exclude-standard')

const steps = new Steps()
await runChecks(steps, [...changed, ...added])
await steps.run('types', () => checkTypes())
const { unit } = createSuites(false)
await steps.run('unit', () => unit(['--passWithNoTests', '--project=node*', `--changed=${base}`]))
steps.summarize()

/** @returns the lines of its output */
function git(...args: string[]): string[] {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)
}
