#!/usr/bin/env node
// Starts `svc-relay`: replaces the process by a Node with the V8 flags of a relay, then serves.

import { skipTranslations } from './core/config/skip-translations.ts'
import { V8_FLAGS } from './core/config/v8-flags.ts'

const missing = V8_FLAGS.filter((option) => !process.execArgv.includes(option))
// Windows cannot replace a process, so the relay is slower there.
if (missing.length > 0 && process.execve !== undefined) {
  const [, ...args] = process.argv
  // Our flags come first: of a flag that is given twice, V8 takes the last.
  process.execve(process.execPath, [process.execPath, ...missing, ...process.execArgv, ...args])
}
skipTranslations()
await import('./cli/serve.ts')
