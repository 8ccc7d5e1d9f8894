// Keeps relays in a test's own process, and their workers, from taking the work of their clients for an overload of theirs:
// they would reset newcomers on a machine that is slow enough. Tests of the overload restore it.

import { afterAll, vi } from 'vitest'
import { NEVER_OVERLOADED } from '../../../tools/relay/process.ts'
import { OverloadMonitor } from '../../src/core/ingress/overload-monitor.ts'

const never = vi.spyOn(OverloadMonitor.prototype, 'isOverloaded', 'get').mockReturnValue(false)
/** A worker process inherits the options of Node. */
process.execArgv.push(NEVER_OVERLOADED)
afterAll(() => {
  never.mockRestore()
  process.execArgv.splice(process.execArgv.indexOf(NEVER_OVERLOADED), 1)
})
