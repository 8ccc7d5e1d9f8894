// Signatures of ACME, by published vectors where there are any.

import { createHmac, createPublicKey, verify } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { bindAccount, jwkOf, signJws, thumbprintOf } from '../../src/acme/jws.ts'
import { createWebCryptoKey, siteKeyOf } from '../../src/certificate/web-crypto-key.ts'

describe('thumbprints (RFC 7638)', () => {
  it('are those of §3.1, whatever else the key has', async () => {
    const jwk = {
      kty: 'RSA',
      n: '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw',
      e: 'AQAB',
      alg: 'RS256',
      kid: '2011-04-29',
    }
    expect(await thumbprintOf(jwk)).toBe('NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs')
  })
})

describe('signatures', () => {
  it('are ES256 of 64 bytes over the two parts (RFC 7518 §3.4), whatever the first bytes of r and s are', async () => {
    const { privateKey, publicKey } = await createWebCryptoKey()
    const key = siteKeyOf({ privateKey, publicKey })
    const spki = createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' })
    expect(jwkOf(key)).toMatchObject(spki.export({ format: 'jwk' }))
    for (let count = 0; count < 64; count++) {
      const jws = await signJws(key, { alg: 'ES256', nonce: `${count}` }, count % 2 ? { count } : undefined)
      const signature = Buffer.from(jws.signature, 'base64url')
      expect(signature).toHaveLength(64)
      const content = Buffer.from(`${jws.protected}.${jws.payload}`)
      expect(verify('sha256', content, { key: spki, dsaEncoding: 'ieee-p1363' }, signature)).toBe(true)
    }
    expect((await signJws(key, {}, undefined)).payload).toBe('')
  })

  it('bind an account to that of a customer (RFC 8555 §7.3.4)', async () => {
    const hmacKey = Buffer.from('a key of the authority').toString('base64url')
    const jwk = { crv: 'P-256', kty: 'EC', x: 'x', y: 'y' }
    const jws = await bindAccount({ keyId: 'kid-1', hmacKey }, 'https://acme.test/new', jwk)
    const decoded = (text: string): unknown => JSON.parse(Buffer.from(text, 'base64url').toString())
    expect(decoded(jws.protected)).toEqual({ alg: 'HS256', kid: 'kid-1', url: 'https://acme.test/new' })
    expect(decoded(jws.payload)).toEqual(jwk)
    const mac = createHmac('sha256', 'a key of the authority').update(`${jws.protected}.${jws.payload}`)
    expect(jws.signature).toBe(mac.digest('base64url'))
  })
})
