// An issuer that answers as a test tells it: its ID tokens may be forged.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What the token endpoint answers; the fields of the ID token begin as those of a good one. */
export interface Forgery {
  header?: Record<string, unknown>
  claims?: Record<string, unknown>
  /** Makes the signature in place of the issuer's key. */
  sign?(data: Uint8Array<ArrayBuffer>, publicKey: JsonWebKey): Promise<ArrayBuffer | ''>
}

const encoder = new TextEncoder()

export class ForgingIssuer {
  readonly url: string
  readonly close: () => void
  /** The forms that the token endpoint got. */
  readonly asked: URLSearchParams[] = []
  /** The nonce of the sign-in that is under way. */
  nonce = ''
  forgery: Forgery = {}

  private constructor(url: string, close: () => void) {
    this.url = url
    this.close = close
  }

  /** @param alg the algorithm of its key, and the fields with which WebCrypto makes one */
  static async start(
    alg: string,
    algorithm: RsaHashedKeyGenParams | EcKeyGenParams | { name: 'Ed25519' },
  ): Promise<ForgingIssuer> {
    const { privateKey, publicKey } = (await crypto.subtle.generateKey(algorithm, true, [
      'sign',
      'verify',
    ])) as CryptoKeyPair
    const jwk = await crypto.subtle.exportKey('jwk', publicKey)
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const issuer = new ForgingIssuer(url, () => {
      server.close()
      server.closeAllConnections()
    })
    const signing = { ...algorithm, saltLength: 32, hash: 'SHA-256' }
    const answers: Record<string, () => unknown> = {
      '/.well-known/openid-configuration': () => ({
        issuer: url,
        authorization_endpoint: `${url}/authorize`,
        token_endpoint: `${url}/token`,
        jwks_uri: `${url}/jwks`,
        id_token_signing_alg_values_supported: [alg, 'none', 'HS256'],
      }),
      '/jwks': () => ({ keys: [{ ...jwk, alg, use: 'sig', kid: 'own' }] }),
      '/token': () => issuer.#token(alg, jwk, (data) => crypto.subtle.sign(signing, privateKey, data)),
    }
    server.on('request', async (request, response) => {
      const body = (await request.setEncoding('utf8').toArray()).join('')
      if (request.url === '/token') issuer.asked.push(new URLSearchParams(body))
      response.setHeader('Content-Type', 'application/json')
      response.end(JSON.stringify(await answers[request.url!]?.()))
    })
    return issuer
  }

  async #token(alg: string, jwk: JsonWebKey, own: NonNullable<Forgery['sign']>): Promise<object> {
    const now = Math.floor(Date.now() / 1000)
    const { header, claims, sign = own } = this.forgery
    const good = { iss: this.url, sub: 'alice', aud: 'site', iat: now, exp: now + 60, nonce: this.nonce }
    const data = `${encoded({ alg, kid: 'own', ...header })}.${encoded({ ...good, ...claims })}`
    const signature = Buffer.from((await sign(encoder.encode(data), jwk)) as ArrayBuffer).toString(
      'base64url',
    )
    return { access_token: 'access', token_type: 'Bearer', id_token: `${data}.${signature}` }
  }
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
