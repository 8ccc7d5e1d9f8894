// Lets unit tests wait for a condition as long as a slow machine may need; Vitest's own default is one second.

import { vi } from 'vitest'
import { WAIT_TIMEOUT_MS } from './test-timeouts.ts'

const { waitFor, waitUntil } = vi
// A process runs many files, and each loads this one again.
if (waitFor.name !== 'waitForLonger') {
  vi.waitFor = function waitForLonger(callback, options) {
    return waitFor(callback, longer(options))
  }
  vi.waitUntil = (callback, options) => waitUntil(callback, longer(options))
}

type Options = Parameters<typeof waitFor>[1]

function longer(options: Options): Options {
  return typeof options === 'number' ? options : { timeout: WAIT_TIMEOUT_MS, ...options }
}
