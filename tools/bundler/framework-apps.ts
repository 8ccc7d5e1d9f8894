// Builds the examples' framework apps with the frameworks' own commands, each into `app/build`, unless that is up to date.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { root, runCommand } from '../programs/command.ts'
import { digestOf } from './source-digest.ts'

/** Milliseconds to build one app, on a machine that is busy. */
const BUILD_TIMEOUT_MS: number = 2 * 60_000

/** The framework's program, which this Node runs, and its arguments. */
const PROGRAMS: Record<string, string[]> = {
  astro: ['astro/bin/astro.mjs', 'build'],
  'react-router': ['@react-router/dev/bin.cjs', 'build'],
  sveltekit: ['vite/bin/vite.js', 'build'],
}

/** The files beside the app of which a build is made: the adapters, what the examples share, and the packages. */
const COMMON = ['sdk-browser/src/adapters/*.ts', 'examples/shared/*', 'package-lock.json']

/** @throws Error with the framework's output when the build fails */
export async function buildFrameworks(): Promise<void> {
  await Promise.all(Object.entries(PROGRAMS).map(([name, program]) => buildApp(name, program)))
}

async function buildApp(name: string, [program = '', ...args]: string[]): Promise<void> {
  const app = path.join('examples', name, 'app')
  const stamp = path.join(root, app, 'build/.built-from')
  const sources = digestOf([...COMMON, `${app}/**/*`])
  if (read(stamp) === sources) return
  const cwd = path.join(root, app)
  const command = [process.execPath, path.join(root, 'node_modules', program), ...args]
  const options = { timeoutMs: BUILD_TIMEOUT_MS, quiet: true, cwd, env: { ASTRO_TELEMETRY_DISABLED: '1' } }
  const { ok, output } = await runCommand(command, options)
  if (!ok) throw new Error(`${app} cannot be built:\n${output}`)
  writeFileSync(stamp, sources)
}

/** @returns undefined when there is no build yet */
function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
