// Preloaded into the processes of a relay under test: they do not take a slow machine for an overload and reset newcomers.

import { OverloadMonitor } from '../../src/core/ingress/overload-monitor.ts'

Object.defineProperty(OverloadMonitor.prototype, 'isOverloaded', { get: () => false })
