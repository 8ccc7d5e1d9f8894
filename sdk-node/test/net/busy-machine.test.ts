// A process that gets no processor for a while does not give up the one address of a relay at which the relay listens.

import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CERTIFICATE_PEM, PRIVATE_KEY_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { nodePlatform } from '../../src/platform.ts'

/** Milliseconds, above the 250 after which Node goes on to the next address. */
const AWAY_MS = 400

let server: Server
let url: string
beforeAll(async () => {
  server = createServer({ cert: CERTIFICATE_PEM, key: PRIVATE_KEY_PEM }, (_request, response) =>
    response.end('here'),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `https://one.relay.localhost:${(server.address() as AddressInfo).port}/`
})
afterAll(() => server.close())

it('the relay answers', async () => {
  const { signal } = new AbortController()
  const answer = nodePlatform({ ca: CERTIFICATE_PEM }).fetch(url, { method: 'GET', headers: {}, signal })
  // The connection to the first address begins, and its end is not seen in time.
  for (let turn = 0; turn < 3; turn++) {
    await setImmediate()
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, AWAY_MS)
  }
  expect(await text((await answer).body!)).toBe('here')
})
