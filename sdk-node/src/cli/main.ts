#!/usr/bin/env node
// The executable `svc`: becomes a Node whose heap suits a carrier when the command serves visitors, then runs the command.

import { nodeTooOld } from '../node-version.ts'

const tooOld = nodeTooOld()
if (tooOld !== undefined) {
  console.error(tooOld)
  process.exit(1)
}
// An old Node lacks names that other modules import, and would say so before the check.
const { compileCacheEnv, useCompileCache } = await import('./compile-cache.ts')
const { V8_FLAGS } = await import('./v8-flags.ts')

const SERVING: ReadonlySet<string> = new Set(['expose', 'serve', 'start', 'run'])

const [, ...args] = process.argv
const missing = V8_FLAGS.filter((option) => !process.execArgv.includes(option))
// Not on Windows, where a process cannot become another one: there it is slower.
if (missing.length > 0 && process.execve !== undefined && args.some((arg) => SERVING.has(arg))) {
  const env = { ...process.env, ...compileCacheEnv() }
  // ours first: of an option that is there twice the last counts
  process.execve(process.execPath, [process.execPath, ...missing, ...process.execArgv, ...args], env)
}
useCompileCache()
await import('./run.ts')
