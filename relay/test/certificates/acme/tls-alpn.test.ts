// openssl, as an ACME authority, asks for a name that is just being proven (RFC 8737 §3), and for others.

import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSniListener } from '../../../src/core/ingress/sni-listener.ts'
import { createLog } from '../../../src/core/log/log.ts'
import { AcmeError } from '../../../src/features/acme/authority.ts'
import { PROVEN_NAMES_MAX } from '../../../src/features/acme/limits.ts'
import { TlsAlpnProver } from '../../../src/features/acme/tls-alpn.ts'
import { askChallenge } from './acme-relay.ts'

const NAME = 'relay.test'
const PROOF = 'token.thumbprint'

describe('a name that is being proven', () => {
  const prover = new TlsAlpnProver()
  let listener: Server
  let port: number
  beforeAll(async () => {
    listener = createSniListener({
      clientAddresses: { admit: async () => true, ofSocket: () => '192.0.2.1' },
      connectionLimiter: { admit: () => true, bound: () => {}, onClientHello: () => {} },
      routes: { resolve: () => ({ to: 'root' }) },
      policy: { routes: () => true },
      visitors: { accept: async (visitor) => void visitor.end('site') },
      serveRoot: (socket) => socket.end('root'),
      proveName: (...from) => prover.serve(...from),
      isReady: () => false,
      connectionsMax: 100,
      log: createLog('silent'),
    })
    await once(listener.listen(0, '127.0.0.1'), 'listening')
    port = (listener.address() as AddressInfo).port
  })
  afterAll(() => void listener.close())

  test('is shown with its name and the digest in a critical extension, also before there is a certificate', async () => {
    const hide = await prover.show(NAME, PROOF)
    const said = await askChallenge(port, NAME)
    expect(said).toMatch(/ALPN protocol: acme-tls\/1/)
    const [pem = ''] = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.exec(said) ?? []
    const text = execFileSync('openssl', ['x509', '-noout', '-text'], { input: pem }).toString()
    expect(text).toMatch(/X509v3 Subject Alternative Name:\s+DNS:relay\.test\n/)
    expect(text).toMatch(/1\.3\.6\.1\.5\.5\.7\.1\.31: critical/)
    const der = execFileSync('openssl', ['x509', '-outform', 'DER'], { input: pem })
    // An OCTET STRING of 32 bytes within the extension's own.
    expect(
      der.includes(Buffer.concat([Buffer.from('04220420', 'hex'), hash('sha256', PROOF, 'buffer')])),
    ).toBe(true)
    await hide()
    expect(await askChallenge(port, NAME)).toMatch(/alert no application protocol/)
  })

  test('is shown to nobody who asks for another name or offers another protocol (protocol §9.1.4)', async () => {
    const hide = await prover.show(NAME, PROOF)
    for (const name of [`x.${NAME}`, 'other.test'])
      expect(await askChallenge(port, name)).toMatch(/alert no application protocol/)
    for (const alpn of ['http/1.1', 'acme-tls/1,http/1.1', 'h2,acme-tls/1'])
      expect(await askChallenge(port, NAME, alpn)).toMatch(/alert internal error/)
    await hide()
  })

  test('is proven for one order at a time, and there is a bound of them all', async () => {
    const hide = [await prover.show(NAME, PROOF)]
    await expect(prover.show(NAME, 'other')).rejects.toThrow(AcmeError)
    for (let n = 1; n < PROVEN_NAMES_MAX; n++) hide.push(await prover.show(`n${n}.${NAME}`, PROOF))
    await expect(prover.show(`one-more.${NAME}`, PROOF)).rejects.toThrow(/cannot be proven now/)
    await Promise.all(hide.map((take) => take()))
    await (await prover.show(NAME, PROOF))()
  })
})
