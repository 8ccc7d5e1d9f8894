// HTTPS clients that share TLS sessions still trust their own CA alone.
import { once } from 'node:events'
import { createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { createCa, createLeaf } from '../../../relay/src/core/certificates/development-ca.ts'
import { trusting } from '../../tls/trusting.ts'

const HOST = 'relay.localhost'

test('a second request resumes the session, and one that trusts another CA is refused', async () => {
  const ca = createCa(HOST)
  const { chain: cert, key } = createLeaf(ca, HOST)
  const server = createServer({ cert, key }, (_, response) => void response.end()).listen(0)
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const isResumed = async (authority: string): Promise<boolean> => {
    const sent = request({ host: '127.0.0.1', servername: HOST, port, ...trusting(authority) })
    const [response] = await once(sent.end(), 'response')
    await response.toArray()
    return (sent.socket as TLSSocket).isSessionReused()
  }
  expect([await isResumed(ca.certificate), await isResumed(ca.certificate)]).toEqual([false, true])
  await expect(isResumed(createCa(HOST).certificate)).rejects.toThrow(/certificate/)
})
