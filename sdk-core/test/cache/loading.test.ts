// A site lives on, and says so, where the code of the static cache cannot be loaded: in a service worker, or without a network.

import { expect, test, vi } from 'vitest'
import { publishOn } from '../../src/publish.ts'
import type { SiteErrorEvent } from '../../src/site/site.ts'
import { RelayDouble, testPlatform } from '../support/relay-double.ts'

vi.mock('../../src/cache/cache-keeper.ts', () => {
  throw new TypeError('import() is not allowed here')
})

test('the site is online without a cache, and dispatches an error event', async () => {
  const relay = await RelayDouble.start()
  const errors: SiteErrorEvent['error'][] = []
  const site = await publishOn(testPlatform(), {
    relay: relay.url,
    name: 'demo',
    fetch: () => new Response('live'),
    cache: { files: {} },
    onSite: (made) => made.addEventListener('error', ({ error }: SiteErrorEvent) => errors.push(error)),
  })
  try {
    expect(site.state).toBe('online')
    await vi.waitFor(() => expect(errors).not.toEqual([]))
    expect(errors).toMatchObject([
      { code: 'cache_unavailable', message: 'the code for cache cannot be loaded', cause: expect.any(Error) },
    ])
    expect(site.cache).toBeUndefined()
  } finally {
    await site.close()
    await relay.crash()
  }
})
