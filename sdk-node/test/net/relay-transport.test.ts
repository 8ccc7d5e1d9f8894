// What the sites of a process share, against a real HTTPS server.

import { once } from 'node:events'
import { createServer, request, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { CERTIFICATE_PEM, PRIVATE_KEY_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { AUTHORITIES_MAX, relayTransport } from '../../src/net/relay-transport.ts'
import { nodePlatform } from '../../src/platform.ts'

let server: Server
let port: number
/** Whether each TLS connection resumed an earlier session. */
let resumed: boolean[]

beforeAll(async () => {
  server = createServer({ cert: CERTIFICATE_PEM, key: PRIVATE_KEY_PEM }, (_request, response) => {
    response.end('answer')
  })
  server.on('secureConnection', (socket: TLSSocket) => resumed.push(socket.isSessionReused()))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  ;({ port } = server.address() as AddressInfo)
})
afterAll(() => server.close())
beforeEach(() => {
  resumed = []
})

it('sites with one authority share connections of the control plane', async () => {
  const { signal } = new AbortController()
  for (let site = 0; site < 3; site++) {
    const { fetch } = nodePlatform({ ca: CERTIFICATE_PEM })
    const init = { method: 'GET', headers: {}, signal } as const
    await text((await fetch(`https://relay.localhost:${port}/`, init)).body!)
  }
  expect(resumed).toEqual([false])
})

it('each WebSocket has a connection of its own, which resumes the TLS session of an earlier one', async () => {
  for (let site = 0; site < 3; site++) {
    const { agent } = nodePlatform({ ca: Buffer.from(CERTIFICATE_PEM) }).webSocketOptions as never
    const asked = request(`https://relay.localhost:${port}/`, { agent })
    asked.end()
    const [answer] = await once(asked, 'response')
    await text(answer)
  }
  expect(resumed).toEqual([false, true, true])
})

it('sites with other authorities share nothing, and the process remembers a bounded number of them', () => {
  const one = relayTransport(CERTIFICATE_PEM)
  expect(relayTransport(undefined)).not.toBe(one)
  expect(relayTransport(CERTIFICATE_PEM)).toBe(one)
  for (let other = 0; other < AUTHORITIES_MAX; other++) relayTransport(`${CERTIFICATE_PEM}${other}`)
  expect(relayTransport(CERTIFICATE_PEM)).not.toBe(one)
})
