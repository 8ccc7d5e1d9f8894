// Keeps relays in a test's own process from taking the work of their clients there for an overload of theirs: they would
// reset newcomers on a machine that is slow enough. Tests of the overload run it in processes of their own, or restore it.

import { afterAll, vi } from 'vitest'
import { OverloadMonitor } from '../../src/ingress/overload-monitor.ts'

const never = vi.spyOn(OverloadMonitor.prototype, 'isOverloaded', 'get').mockReturnValue(false)
afterAll(() => never.mockRestore())
