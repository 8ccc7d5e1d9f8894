// A site lives on, and says so, where the code of the static cache cannot be loaded: in a service worker, or without a network.

import { expect, test, vi } from 'vitest'
import { RelayClient } from '../../src/control/relay-client.ts'
import { StaticCache } from '../../src/site/static-cache.ts'
import { RELAY } from '../support/fake-relay.ts'

vi.mock('../../src/cache/cache-keeper.ts', () => {
  throw new TypeError('import() is not allowed here')
})

test('each look is an error event, and a removal is refused', async () => {
  const onError = vi.fn()
  const cache = new StaticCache({
    client: new RelayClient(RELAY, () => Promise.reject(new Error('no request is expected'))),
    keeper: {} as never,
    files: () => ({}),
    index: 'index.html',
    fallback: true,
    isOnline: () => true,
    changed: () => {},
    onError,
  })
  cache.check()
  await vi.waitFor(() => expect(onError).toHaveBeenCalledOnce())
  await cache.refresh()
  expect(onError.mock.calls.flat()).toMatchObject([
    { code: 'cache_unavailable', message: 'the code of the static cache cannot be loaded' },
    { code: 'cache_unavailable', cause: expect.any(Error) },
  ])
  await expect(cache.remove()).rejects.toMatchObject({ code: 'cache_unavailable' })
  cache.stop()
  expect(cache).toMatchObject({ present: false, expires_at: undefined })
})
