// A process that gets no processor for a while does not give up the one address of a relay at which the relay listens.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { nodePlatform } from '../../src/platform.ts'

/** Milliseconds, above the 250 after which Node goes on to the next address. */
const AWAY_MS = 400

let server: Server
let url: string
beforeAll(async () => {
  server = createServer((_request, response) => response.end('here'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://one.localhost:${(server.address() as AddressInfo).port}/`
})
afterAll(() => server.close())

it('the relay answers', async () => {
  const answer = nodePlatform({}).fetch(url, {})
  // The connection to the first address begins, and its end is not seen in time.
  for (let turn = 0; turn < 3; turn++) {
    await setImmediate()
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, AWAY_MS)
  }
  expect(await (await answer).text()).toBe('here')
})
