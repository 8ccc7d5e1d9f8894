// A site learns of its approval where the code that polls for it cannot be loaded: in a service worker, or without a network.

import { expect, test, vi } from 'vitest'
import { publishOn } from '../../src/publish.ts'
import type { Site } from '../../src/site/site.ts'
import { RelayDouble, testPlatform } from '../support/relay-double.ts'

vi.mock('../../src/site/approval-poll.ts', () => {
  throw new TypeError('import() is not allowed here')
})

test('the next renewal tells it', async () => {
  const relay = await RelayDouble.start()
  relay.ttlS = 2
  relay.routing = 'approval'
  const { promise: begun, resolve: onSite } = Promise.withResolvers<Site>()
  const options = { relay: relay.url, name: 'demo', ttl: 2, fetch: () => new Response('hello'), onSite }
  const publishing = publishOn(testPlatform(), options)
  const site = await begun
  await vi.waitFor(() => expect(site.waiting?.reason).toBe('approval'))
  relay.routing = 'allowed'
  expect(await publishing).toBe(site)
  expect(relay.count('/sdk/reverse')).toBe(0)
  // One that was under way when the operator approved does not tell it.
  expect(relay.count('/sdk/renew')).toBeGreaterThan(0)
  await site.close()
  await relay.crash()
})
