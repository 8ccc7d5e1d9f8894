// JSON Web Signatures as ACME uses them (RFC 8555 §6.2, RFC 7515, RFC 7518 §3.4), and thumbprints of keys (RFC 7638).

import { fromBase64 } from '../bytes/base64.ts'
import { base64url } from '../bytes/base64url.ts'
import type { SiteKey } from '../certificate/site-key.ts'

/** A Jwk has the required members of a public key (RFC 7517). */
export type Jwk = Readonly<Record<string, string>>

/** A Jws is a request in the flattened JSON serialization (RFC 7515 §7.2.2). */
export interface Jws {
  protected: string
  payload: string
  signature: string
}

/** The members of a thumbprint, for each `kty`, in their order (RFC 7638 §3.2). */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  EC: ['crv', 'kty', 'x', 'y'],
  RSA: ['e', 'kty', 'n'],
}
/** The bytes of a coordinate, and of r and s, of P-256. */
const P256_BYTES = 32
const encoder = new TextEncoder()

/** Returns the JWK of a key of ECDSA P-256: the end of its SubjectPublicKeyInfo is `04`, x and y (RFC 5480 §2.2). */
export function jwkOf({ publicKey }: SiteKey): Jwk {
  const x = publicKey.subarray(-2 * P256_BYTES, -P256_BYTES)
  return { crv: 'P-256', kty: 'EC', x: base64url(x), y: base64url(publicKey.subarray(-P256_BYTES)) }
}

/** Resolves with the SHA-256 thumbprint of a key, in base64url. */
export async function thumbprintOf(jwk: Jwk): Promise<string> {
  const members = MEMBERS[jwk.kty!]!.map((name) => [name, jwk[name]])
  return base64url(await sha256(JSON.stringify(Object.fromEntries(members))))
}

/**
 * Signs with ES256.
 * @param payload undefined for a POST-as-GET (RFC 8555 §6.3)
 */
export async function signJws(key: SiteKey, header: object, payload: object | undefined): Promise<Jws> {
  const [protect, body] = [encode(header), payload === undefined ? '' : encode(payload)]
  const signature = rawSignature(await key.sign(encoder.encode(`${protect}.${body}`)))
  return { protected: protect, payload: body, signature: base64url(signature) }
}

/** An ExternalAccount shows an authority that an account belongs to one of its customers (RFC 8555 §7.3.4). */
export interface ExternalAccount {
  /** The identifier of the key. */
  keyId: string
  /** The key, in base64url. */
  hmacKey: string
}

/**
 * Signs the JWK of an account with the key of an external account.
 * @throws SyntaxError when `hmacKey` is not base64url
 */
export async function bindAccount({ keyId, hmacKey }: ExternalAccount, url: string, jwk: Jwk): Promise<Jws> {
  const bytes = fromBase64(hmacKey.replaceAll('-', '+').replaceAll('_', '/'))
  if (!bytes?.length) throw new SyntaxError('acme.externalAccountBinding.hmacKey is not base64url')
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign'])
  const [protect, body] = [encode({ alg: 'HS256', kid: keyId, url }), encode(jwk)]
  const signature = await crypto.subtle.sign('HMAC', key, encoder.encode(`${protect}.${body}`))
  return { protected: protect, payload: body, signature: base64url(new Uint8Array(signature)) }
}

export async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(text)))
}

/** Converts an ECDSA-Sig-Value (RFC 3279 §2.2.3) to r and s, concatenated at equal length. */
function rawSignature(der: Uint8Array): Uint8Array {
  const raw = new Uint8Array(2 * P256_BYTES)
  // Two INTEGERs in a SEQUENCE, each with one byte for its tag and one for its length, at most one byte longer than the value.
  let at = 2
  for (const end of [P256_BYTES, 2 * P256_BYTES]) {
    const integer = der.subarray(at + 2, at + 2 + der[at + 1]!)
    const digits = integer.subarray(-P256_BYTES)
    raw.set(digits, end - digits.length)
    at += 2 + integer.length
  }
  return raw
}

function encode(value: object): string {
  return base64url(encoder.encode(JSON.stringify(value)))
}
