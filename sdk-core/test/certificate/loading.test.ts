// Visitors get the chain as it is where the code that compresses it cannot be loaded, as in a service worker.

import { expect, test, vi } from 'vitest'
import { ChainCompression } from '../../src/certificate/chain-compression.ts'

test('there are no forms of it, and no error', async () => {
  const compress = vi.fn(() => Promise.reject(new TypeError('import() is not allowed here')))
  const compression = new ChainCompression([Uint8Array.of(0x30, 0)], compress)
  expect(compression.forms.size).toBe(0)
  await vi.waitFor(() => expect(compress).toHaveBeenCalledOnce())
  expect(compression.forms.size).toBe(0)
})
