// Lease access tokens and reverse capabilities: JWTs that the relay identity signs with ES256K (RFC 8812).

import { randomBytes, sign, verify } from 'node:crypto'
import { type Audience, identityKey, TOKEN_HEADER, type TokenClaims } from '@svc/protocol'
import type { RelayIdentity } from '../identity.ts'
import type { Lease } from './lease.ts'
import { VerifiedTokens } from './verified-tokens.ts'

const HEADER = encode(TOKEN_HEADER)
const SIGNATURE_BYTES = 64
const TOKEN_ID_BYTES = 12
/** Larger than any token that this relay signs. */
const TOKEN_MAX_CHARS = 4096
/** Half of the order of secp256k1: of the two values that verify, only the lower `s` is the signature. */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

export class Tokens {
  readonly #identity: RelayIdentity
  readonly #issuer: string
  readonly #verified = new VerifiedTokens()

  /** @param issuer the relay's URL */
  constructor(identity: RelayIdentity, issuer: string) {
    this.#identity = identity
    this.#issuer = issuer
  }

  issue(lease: Lease, audience: Audience): string {
    const now = Math.floor(Date.now() / 1000)
    const { name, address } = lease.identity
    const claims: TokenClaims = {
      iss: this.#issuer,
      sub: identityKey(name, address),
      aud: audience,
      jti: `tok_${randomBytes(TOKEN_ID_BYTES).toString('hex')}`,
      iat: now,
      nbf: now,
      exp: Math.floor(lease.expiresAt / 1000),
      identity: lease.identity,
      lease_id: lease.id,
    }
    const input = `${HEADER}.${encode(claims)}`
    return `${input}.${this.#sign(input).toString('base64url')}`
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
    const key = { key: this.#identity.publicKey, dsaEncoding: 'ieee-p1363' } as const
    if (!verify('sha256', Buffer.from(`${header}.${payload}`), key, bytes)) return undefined
    // Signed by this relay, so it has the shape that `issue` gave it.
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as TokenClaims
    this.#verified.add(token, claims)
    return claims
  }

  #sign(input: string): Buffer {
    const key = { key: this.#identity.privateKey, dsaEncoding: 'ieee-p1363' } as const
    const signature = sign('sha256', Buffer.from(input), key)
    const s = scalar(signature.subarray(32))
    if (s > HALF_ORDER) signature.write((ORDER - s).toString(16).padStart(64, '0'), 32, 'hex')
    return signature
  }
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function scalar(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString('hex')}`)
}
