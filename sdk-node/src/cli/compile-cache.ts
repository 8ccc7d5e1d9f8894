// Keeps the compiled code of `svc` between its runs, which halves the time of a start.

import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { cacheDirectory } from './cache-directory.ts'

/** Node's own variable with the directory of compiled code; of two directories it takes this one. */
const VARIABLE = 'NODE_COMPILE_CACHE'

/** @returns variables of the environment for a process of `svc` whose first file is compiled code already */
export function compileCacheEnv(): NodeJS.ProcessEnv {
  const directory = process.env[VARIABLE] ?? compileCacheDirectory()
  return directory === undefined ? {} : { [VARIABLE]: directory }
}

/** Takes compiled code from the cache from here on. Without a directory for it, every start compiles. */
export function useCompileCache(): void {
  const directory = compileCacheDirectory()
  if (directory !== undefined) enableCompileCache(directory)
}

/** @returns undefined where no directory is the user's alone: code that others could write must not run */
function compileCacheDirectory(): string | undefined {
  try {
    return join(cacheDirectory(), 'compiled')
  } catch {
    return undefined
  }
}
