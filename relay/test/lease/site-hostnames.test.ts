// A lease that says that it has the root host, or another host, gets nothing for it: no certificate and no signature.

import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { RegisterResponse } from '@svc/protocol'
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { useStarted } from '../../../tools/use-started.ts'
import { Lease } from '../../src/core/lease/lease.ts'
import { openCarrier, type TestCarrier } from '../support/carrier.ts'
import { certificateRequest } from '../support/certificate-request.ts'
import { helloOfRecords } from '../support/handshake.ts'
import { ROOT_HOST, startTestRelay } from '../support/relay.ts'
import { activate, genuine, sign } from '../support/sign.ts'

let lease: RegisterResponse
let carrier: TestCarrier
let shared: X509Certificate

const relay = useStarted(startTestRelay)
beforeAll(async () => {
  lease = await relay.register('liar')
  carrier = await openCarrier(relay, lease.reverse_endpoint.capability)
  shared = new X509Certificate((await relay.call('GET', '/sdk/certificate-chain')).text)
})
afterEach(() => void vi.restoreAllMocks())

/** From now on each lease says that it has these hostnames, too. */
function lie(): void {
  const others = [ROOT_HOST, `a.b.${ROOT_HOST}`, `evil${ROOT_HOST}`, 'other.example']
  vi.spyOn(Lease.prototype, 'hostnames', 'get').mockReturnValue([...others, lease.hostname])
}

/** The ClientHello of a client that asks for a host. */
async function helloFor(servername: string): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const client = connectTls({ socket: connect(port, '127.0.0.1'), servername })
  client.on('error', () => {})
  const [socket] = (await once(server, 'connection')) as [Socket]
  const [bytes] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  server.close()
  return helloOfRecords(bytes)
}

describe('a lease that says that it has the root host', () => {
  test('has a certificate of its own hostnames alone', async () => {
    lie()
    const headers = { 'X-Svc-Access-Token': lease.access_token }
    const { text } = await relay.call('GET', '/sdk/certificate-chain', undefined, headers)
    expect(new X509Certificate(text).subjectAltName).toBe(`DNS:${lease.hostname}`)
  })

  test('gets no certificate of it for a key of its own', async () => {
    lie()
    const csr = certificateRequest([ROOT_HOST]).toString('base64')
    const headers = { 'X-Svc-Access-Token': lease.access_token }
    const answer = await relay.call('POST', '/sdk/certificate', { csr }, headers)
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('hostnames of this lease')])
  })

  test('gets no signature for it', async () => {
    const session = await activate(relay, carrier, lease)
    const hello = await helloFor(ROOT_HOST)
    lie()
    const fields = { ...genuine(session, [shared.raw]), client_hello: hello }
    const answer = await sign(relay, lease.access_token, fields)
    expect([answer.status, answer.text]).toEqual([
      403,
      expect.stringContaining('client_hello does not name a hostname of this lease'),
    ])
  })
})
