#!/usr/bin/env node
// The executable `svc`: if the command serves visitors, it re-executes Node with suitable heap flags, then runs the command.

import { nodeTooOld } from '../node-version.ts'

const tooOld = nodeTooOld()
if (tooOld !== undefined) {
  console.error(tooOld)
  process.exit(1)
}
// Imported dynamically: an old Node lacks names that other modules import, and would fail before the check.
const { compileCacheEnv, useCompileCache } = await import('./compile-cache.ts')
const { V8_FLAGS } = await import('./v8-flags.ts')

const SERVING: ReadonlySet<string> = new Set(['expose', 'http', 'serve', 'record', 'replay', 'start', 'run'])

const [, ...args] = process.argv
const missing = V8_FLAGS.filter((option) => !process.execArgv.includes(option))
// Windows has no execve, so there it runs without the flags.
if (missing.length > 0 && process.execve !== undefined && args.some((arg) => SERVING.has(arg))) {
  const env = { ...process.env, ...compileCacheEnv() }
  // Ours come first, because the last one of a repeated option wins.
  process.execve(process.execPath, [process.execPath, ...missing, ...process.execArgv, ...args], env)
}
useCompileCache()
await import('./run.ts')
