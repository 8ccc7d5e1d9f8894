// Visitors get the chain as it is where the code that compresses it cannot be loaded, as in a service worker.

import { expect, test, vi } from 'vitest'
import { ChainCompression } from '../../src/certificate/chain-compression.ts'

const load = vi.hoisted(() => vi.fn(() => new TypeError('import() is not allowed here')))

vi.mock('../../src/certificate/lazy.ts', () => {
  throw load()
})

test('there are no forms of it, and no error', async () => {
  const compression = new ChainCompression([Uint8Array.of(0x30, 0)])
  expect(compression.forms.size).toBe(0)
  await vi.waitFor(() => expect(load).toHaveBeenCalledOnce())
  expect(compression.forms.size).toBe(0)
})
