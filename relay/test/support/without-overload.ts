// Keeps relays in a test's own process, and their workers, from taking the work of their clients for an overload of theirs:
// they would reset newcomers on a machine that is slow enough. Tests of the overload restore it.

import { join } from 'node:path'
import { afterAll, vi } from 'vitest'
import { OverloadMonitor } from '../../src/ingress/overload-monitor.ts'

const never = vi.spyOn(OverloadMonitor.prototype, 'isOverloaded', 'get').mockReturnValue(false)
/** A worker process inherits the options of Node. */
const option = `--import=${join(import.meta.dirname, 'never-overloaded.ts')}`
process.execArgv.push(option)
afterAll(() => {
  never.mockRestore()
  process.execArgv.splice(process.execArgv.indexOf(option), 1)
})
