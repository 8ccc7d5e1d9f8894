// Where the code for WebSockets cannot be loaded (a service worker, or the network is gone), the rest of the site lives.

import { expect, test, vi } from 'vitest'
import { Visitor } from '../http1/visitor.ts'
import { HANDSHAKE } from './client.ts'

vi.mock('../../src/websocket/upgrade.ts', () => {
  throw new TypeError('import() is not allowed here')
})

test('a handler that does not upgrade answers as ever', async () => {
  const visitor = await new Visitor(() => new Response('a page')).send(HANDSHAKE)
  expect(await visitor.rest()).toMatch(/^HTTP\/1\.1 200 .*a page$/s)
  expect(visitor.errors).toEqual([])
})

test('one that upgrades fails, and the site is told why', async () => {
  const visitor = new Visitor((request, info) => info.upgrade(request).response)
  await visitor.send(HANDSHAKE)
  expect(await visitor.rest()).toMatch(/^HTTP\/1\.1 500 /)
  expect(visitor.errors).toEqual([expect.any(Error)])
})
