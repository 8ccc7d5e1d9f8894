// Checks imports of our own files with dependency-cruiser: the rules of import-rules.ts, and no cycles. Types count like values.
// `node scripts/lint/imports.ts [FOLDER]` prints each fault on a line, and exits with 1 if there is one.
// What code may import of Node and of third parties is in imports.grit.
import { globSync } from 'node:fs'
import { createRequire, registerHooks } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ICruiseResult, IFlattenedRuleSet, IViolation } from 'dependency-cruiser'
import { RULES } from './import-rules.ts'

const SOURCES = ['*/src', '{relay,sdk-node}/web/src', 'scripts', 'e2e', 'bench', 'tools']

/** @returns a line for each import and each cycle below `directory` that breaks a rule */
async function findImportFaults(directory: string): Promise<string[]> {
  lendTypeScript()
  const { cruise } = await import('dependency-cruiser')
  const { output } = await cruise(
    globSync(SOURCES, { cwd: directory }).sort(),
    {
      baseDir: directory,
      parser: 'tsc',
      tsPreCompilationDeps: true,
      doNotFollow: { path: ['(^|/)node_modules/'] },
      exclude: { path: ['(^|/)(node_modules|dist|build)/', '^sdk-node/page/'] },
      ruleSet: { forbidden: [...RULES] } satisfies IFlattenedRuleSet,
      validate: true,
    },
    { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  )
  return (output as ICruiseResult).summary.violations.map(describe)
}

/** dependency-cruiser needs the API of a TypeScript before 7. @arethetypeswrong/core brings one; the repository's own has none. */
function lendTypeScript(): void {
  const { resolve } = createRequire(import.meta.resolve('@arethetypeswrong/core'))
  const lent = new Map(
    ['typescript', 'typescript/package.json'].map((name) => [name, pathToFileURL(resolve(name)).href]),
  )
  registerHooks({
    resolve(specifier, context, next) {
      const url = lent.get(specifier)
      return url === undefined ? next(specifier, context) : { url, shortCircuit: true }
    },
  })
}

function describe({ from, to, rule, cycle, via }: IViolation): string {
  const reason = RULES.find(({ name }) => name === rule.name)?.comment
  const way = (cycle ?? via)?.map(({ name }) => name) ?? [to]
  return `${[from, ...way].join(' → ')}: ${rule.name}: ${reason}`
}

const faults = await findImportFaults(
  path.resolve(process.argv[2] ?? path.join(import.meta.dirname, '../..')),
)
for (const fault of faults) console.log(fault)
process.exitCode = faults.length > 0 ? 1 : 0
