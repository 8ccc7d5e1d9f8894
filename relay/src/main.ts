#!/usr/bin/env node
// The executable `svc-relay`: becomes a Node whose heap suits a relay, then serves.

import { V8_FLAGS } from './config/v8-flags.ts'

const missing = V8_FLAGS.filter((option) => !process.execArgv.includes(option))
// Not on Windows, where a process cannot become another one: there the relay is slower.
if (missing.length > 0 && process.execve !== undefined) {
  const [, ...args] = process.argv
  // ours first: of an option that is there twice the last counts
  process.execve(process.execPath, [process.execPath, ...missing, ...process.execArgv, ...args])
}
await import('./cli/serve.ts')
