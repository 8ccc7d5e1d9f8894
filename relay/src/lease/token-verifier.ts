// Whether this relay signed a token, for this use, and still means it. The public key is all that takes.

import { type KeyObject, verify } from 'node:crypto'
import { type Audience, TOKEN_HEADER, type TokenClaims } from '@svc/protocol'
import { VerifiedTokens } from './verified-tokens.ts'

/** The first part of every token. */
export const HEADER: string = encode(TOKEN_HEADER)
const SIGNATURE_BYTES = 64
/** Larger than any token that this relay signs. */
const TOKEN_MAX_CHARS = 4096
/** Half of the order of secp256k1: of the two values that verify, only the lower `s` is the signature. */
export const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

export class TokenVerifier {
  readonly #publicKey: KeyObject
  readonly #issuer: string
  readonly #verified = new VerifiedTokens()

  /** @param issuer the relay's URL */
  constructor(publicKey: KeyObject, issuer: string) {
    this.#publicKey = publicKey
    this.#issuer = issuer
  }

  /** @returns the claims, or undefined when the token is not this relay's, not for `audience`, or out of time */
  verify(token: string, audience: Audience): TokenClaims | undefined {
    if (token.length > TOKEN_MAX_CHARS) return undefined
    const claims = this.#verified.get(token) ?? this.#checkSignature(token)
    if (claims === undefined) return undefined
    const now = Date.now() / 1000
    const current = claims.nbf <= now && now < claims.exp
    return claims.iss === this.#issuer && claims.aud === audience && current ? claims : undefined
  }

  #checkSignature(token: string): TokenClaims | undefined {
    const [header, payload, signature, ...rest] = token.split('.')
    if (header !== HEADER || payload === undefined || signature === undefined || rest.length > 0)
      return undefined
    const bytes = Buffer.from(signature, 'base64url')
    // The second test refuses other spellings of the same bytes: padding, stray characters, loose last bits.
    if (bytes.length !== SIGNATURE_BYTES || bytes.toString('base64url') !== signature) return undefined
    if (scalar(bytes.subarray(32)) > HALF_ORDER) return undefined
    const key = { key: this.#publicKey, dsaEncoding: 'ieee-p1363' } as const
    if (!verify('sha256', Buffer.from(`${header}.${payload}`), key, bytes)) return undefined
    // Signed by this relay, so it has the shape that `issue` gave it.
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as TokenClaims
    this.#verified.add(token, claims)
    return claims
  }
}

export function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

export function scalar(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString('hex')}`)
}
