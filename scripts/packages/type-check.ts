// Type-checks programs against the declarations in the tarballs, with the strictest settings that a user may have.
import { copyFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { root, runCommand } from '../../tools/programs/command.ts'
import type { Consumer } from './consumer.ts'

/** Longest that the compiler may take for one program, in milliseconds. */
const CHECK_TIMEOUT_MS = 60_000

const NODENEXT = { module: 'nodenext' }
const BUNDLER = { module: 'esnext', moduleResolution: 'bundler' }
/** A page has no types of Node, and a program for Node none of the browser. */
const PAGE = { lib: ['ES2022', 'DOM', 'DOM.Iterable'], types: [] }
const WORKER = { lib: ['ES2022', 'WebWorker'], types: [] }
const NODE = { lib: ['ES2024'], types: ['node'] }

/** Each way to compile a program, with its name. */
const CHECKS: Readonly<Record<string, { program: 'page' | 'node'; settings: object }>> = {
  'page, nodenext': { program: 'page', settings: { ...NODENEXT, ...PAGE } },
  'page, bundler': { program: 'page', settings: { ...BUNDLER, ...PAGE } },
  'worker, bundler': { program: 'page', settings: { ...BUNDLER, ...WORKER } },
  'Node, nodenext': { program: 'node', settings: { ...NODENEXT, ...NODE } },
  'Node, bundler': { program: 'node', settings: { ...BUNDLER, ...NODE } },
}

/** One way for pages and one for Node: the others resolve the same files. */
export const FEW_CHECKS: readonly string[] = ['page, bundler', 'Node, nodenext']

/**
 * Compiles the programs in the ways that `names` has, or in all.
 * @returns what the compiler says about each, nothing when all is well
 */
export async function typeCheck(
  { directory }: Consumer,
  names: readonly string[] = Object.keys(CHECKS),
): Promise<{ name: string; output: string }[]> {
  for (const program of ['page.ts', 'node.ts'])
    copyFileSync(path.join(import.meta.dirname, 'programs', program), path.join(directory, program))
  return Promise.all(
    names.map(async (name) => {
      const { program, settings } = CHECKS[name]!
      const project = path.join(directory, `tsconfig.${name.replace(', ', '-')}.json`)
      const compilerOptions = {
        target: 'ES2024',
        strict: true,
        skipLibCheck: false,
        noEmit: true,
        ...settings,
      }
      writeFileSync(project, JSON.stringify({ compilerOptions, files: [`${program}.ts`] }))
      const tsc = path.join(root, 'node_modules/.bin/tsc')
      const options = { timeoutMs: CHECK_TIMEOUT_MS, quiet: true, cwd: directory }
      const { ok, output } = await runCommand([tsc, '-p', project], options)
      return { name, output: ok ? '' : output.trim() || 'the compiler failed' }
    }),
  )
}
