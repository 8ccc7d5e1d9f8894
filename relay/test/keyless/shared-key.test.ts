// What the key that all sites share signs for nobody. Decision 0016 goes through everything that it does sign.

import { createHash, randomBytes, verify, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import type { RegisterResponse } from '@svc/protocol'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { captureHello } from '../../../tools/network/client-hello.ts'
import { useStarted } from '../../../tools/use-started.ts'
import { openCarrier } from '../support/carrier.ts'
import { helloOfRecords, helloRetryRequest } from '../support/handshake.ts'
import { type Answer, ROOT_HOST, startTestRelay } from '../support/relay.ts'
import { type Activated, genuine, type SignFields, sign } from '../support/sign.ts'

/** Of the random in a ClientHello message: behind its header and legacy_version (RFC 8446 §4.1.2). */
const RANDOM_AT = 6
const RANDOM_BYTES = 32
const RECORD_HEADER_BYTES = 5
/** ServerECDHParams (RFC 8422 §5.4) of a key that the attacker made: named_curve, x25519, length, public key. */
const PARAMS = Buffer.concat([Buffer.from('03001d20', 'hex'), randomBytes(32)])

let shared: X509Certificate
/** The attacker's. */
let lease: RegisterResponse

const relay = useStarted(startTestRelay)
beforeAll(async () => {
  shared = new X509Certificate((await relay.call('GET', '/sdk/certificate-chain')).text)
  lease = await relay.register('attacker')
})

/** The attacker visits its own site with a ClientHello of its making. */
async function bridge(records: Buffer): Promise<Activated> {
  const { capability } = lease.reverse_endpoint
  const { open } = await openCarrier(relay, capability)
  const { read } = await open(capability)
  await read(1)
  const visitor = await relay.tcp()
  visitor.write(records)
  await read(1)
  const binding = await read(16)
  return { binding, clientHello: helloOfRecords(await read(records.length)) }
}

/** Whether the relay signed this very content. */
function proves({ json }: Answer, content: Buffer): boolean {
  const { signature } = json as unknown as { signature?: string }
  if (signature === undefined) return false
  return verify('sha256', content, shared.publicKey, Buffer.from(signature, 'base64'))
}

describe('/v1/sign, asked by an attacker who has a lease and is on the path of a victim', () => {
  /** What the victim sends on its way to the root host, and what reaches the attacker instead. */
  let victim: Buffer

  beforeAll(async () => {
    victim = helloOfRecords(await captureHello(ROOT_HOST))
  })

  describe("with the victim's client random in a hello of TLS 1.2 to its own site", () => {
    /** A ServerKeyExchange signs both randoms and the parameters (RFC 8422 §5.4): no name, no version, no certificate. */
    let content: Buffer
    let session: Activated
    let tls12: SignFields

    beforeEach(async () => {
      const clientRandom = victim.subarray(RANDOM_AT, RANDOM_AT + RANDOM_BYTES)
      const records = await captureHello(lease.hostname, { maxVersion: 'TLSv1.2' })
      clientRandom.copy(records, RECORD_HEADER_BYTES + RANDOM_AT)
      session = await bridge(records)
      const serverRandom = randomBytes(RANDOM_BYTES)
      content = Buffer.concat([clientRandom, serverRandom, PARAMS])
      tls12 = {
        binding: session.binding,
        client_hello: session.clientHello,
        client_random: clientRandom,
        server_random: serverRandom,
        server_ecdh_params: PARAMS,
      }
    })

    test('gets no signature of a ServerKeyExchange, which would make it the relay to the victim (protocol §10.2.1)', async () => {
      const answer = await sign(relay, lease.access_token, tls12)
      expect(proves(answer, content)).toBe(false)
      expect(answer).toMatchObject({ status: 400, json: { error: expect.stringContaining('server_hello') } })
    })

    test('nor with the messages of TLS 1.3 beside it: those are what is signed', async () => {
      const tls13 = genuine(session, [shared.raw])
      const answer = await sign(relay, lease.access_token, { ...tls12, ...tls13 })
      expect(proves(answer, content)).toBe(false)
      const { client_hello, server_hello, encrypted_extensions, certificate } = tls13
      const messages = [client_hello, server_hello, encrypted_extensions, certificate]
      const transcript = createHash('sha256').update(Buffer.concat(messages)).digest()
      const context = Buffer.from(`${' '.repeat(64)}TLS 1.3, server CertificateVerify\0`)
      expect(proves(answer, Buffer.concat([context, transcript]))).toBe(true)
    })
  })

  test("gets nothing for the victim's own hello, not even as the second one of a handshake (protocol §10.3.5, §10.3.7)", async () => {
    const session = await bridge(await captureHello(lease.hostname))
    const request = genuine(session, [shared.raw])
    expect(await sign(relay, lease.access_token, { ...request, client_hello: victim })).toMatchObject({
      status: 403,
      json: { error: 'client_hello does not name a hostname of this lease' },
    })
    const retry = { hello_retry_request: helloRetryRequest(), client_hello_retry: victim }
    expect(await sign(relay, lease.access_token, { ...request, ...retry })).toMatchObject({
      status: 403,
      json: { error: 'client_hello_retry names another host' },
    })
  })
})

test('the API ends the connection of a client that knows TLS 1.2 only, with an alert (protocol §2.1.1)', async () => {
  const client = relay.tls(ROOT_HOST, { maxVersion: 'TLSv1.2' })
  expect((await once(client, 'error'))[0]).toMatchObject({ code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' })
})
