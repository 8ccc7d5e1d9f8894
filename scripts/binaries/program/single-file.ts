// Says how a program that is one file starts threads and processes from that file: a bundle that Node runs, or a single
// executable, whose bundle is an asset.

import { getAsset, isSea } from 'node:sea'
import { fileURLToPath } from 'node:url'
import { isMainThread, type WorkerOptions } from 'node:worker_threads'

/** Name of the asset that holds the bundle. */
export const BUNDLE_ASSET = 'bundle.mjs'

interface ThreadCode {
  script: string | URL
  options: WorkerOptions
}

interface ProcessCode {
  execArgv: string[]
  module: string
  args: string[]
  env: Record<string, string>
}

/** @returns the name of the thread or child process to run; anything else belongs to the main program */
export function nameOfThisPart(): string | undefined {
  return isMainThread ? process.argv[2] : process.argv.at(-1)
}

export function threadOfThisFile(name: string): ThreadCode {
  const argv = [name]
  if (!isSea()) return { script: new URL(import.meta.url), options: { argv } }
  const options = { argv, eval: true, execArgv: ['--input-type=module'] }
  return { script: getAsset(BUNDLE_ASSET, 'utf8'), options }
}

export function processOfThisFile(name: string, execArgv: readonly string[]): ProcessCode {
  if (!isSea())
    return { execArgv: [...execArgv], module: fileURLToPath(import.meta.url), args: [name], env: {} }
  // An executable takes no options of Node but from its configuration, which its child has too, and from this variable.
  const options = execArgv.filter((option) => !process.execArgv.includes(option)).map(quoted)
  const env = options.length > 0 ? { NODE_OPTIONS: options.join(' ') } : undefined
  return { execArgv: [], module: name, args: [], env: { ...env } }
}

/** Quotes an option as NODE_OPTIONS wants it. */
function quoted(option: string): string {
  return `"${option.replace(/["\\]/g, '\\$&')}"`
}
