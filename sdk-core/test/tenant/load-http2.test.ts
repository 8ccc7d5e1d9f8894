// Where the code for HTTP/2 cannot be loaded (a service worker, or the network is gone), visitors are not offered it.

import { expect, test, vi } from 'vitest'
import { loadHttp2 } from '../../src/tenant/load-http2.ts'

vi.mock('../../src/http2/connection.ts', () => {
  throw new TypeError('import() is not allowed here')
})

test('there is none, and no error', async () => {
  expect(await loadHttp2()).toBeUndefined()
})
