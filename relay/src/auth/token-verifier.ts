// Whether this relay signed a token, for this use, and still means it. The public key is all that takes.

import { type KeyObject, verify } from 'node:crypto'
import { type Audience, identityKey, TOKEN_HEADER, type TokenClaims } from '@svc/protocol'
import { now } from '../clock.ts'
import { VerifiedTokenCache } from './verified-token-cache.ts'

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
  readonly #verified = new VerifiedTokenCache()

  /** @param issuer the relay's URL */
  constructor(publicKey: KeyObject, issuer: string) {
    this.#publicKey = publicKey
    this.#issuer = issuer
  }

  /** @returns the claims, or undefined when the token is not this relay's, not for `audience`, or out of time */
  verify(token: string, audience: Audience): TokenClaims | undefined {
    const read = this.read(token, audience)
    return read?.isSigned() ? read.claims : undefined
  }

  /**
   * What a token says, before anything is known of its signature, which takes a thousand times as long to check.
   * @returns undefined when it has not the form of this relay's tokens, is not for `audience`, or out of time
   */
  read(token: string, audience: Audience): UncheckedToken | undefined {
    if (token.length > TOKEN_MAX_CHARS) return undefined
    const verified = this.#verified.get(token)
    const parsed = verified ? undefined : parseToken(token)
    const claims = verified ?? parsed?.claims
    if (claims === undefined) return undefined
    const time = now() / 1000
    const isCurrent = claims.nbf <= time && time < claims.exp
    if (claims.iss !== this.#issuer || claims.aud !== audience || !isCurrent) return undefined
    return {
      claims,
      isChecked: parsed === undefined,
      isSigned: () => parsed === undefined || this.#isSigned(token, parsed),
    }
  }

  #isSigned(token: string, { input, signature, claims }: ParsedToken): boolean {
    const key = { key: this.#publicKey, dsaEncoding: 'ieee-p1363' } as const
    if (!verify('sha256', Buffer.from(input), key, signature)) return false
    this.#verified.add(token, claims)
    return true
  }
}

/** A token that anybody may have written. */
export interface UncheckedToken {
  claims: TokenClaims
  /** Whether {@link isSigned} costs nothing, because it has been found out before. */
  isChecked: boolean
  isSigned(): boolean
}

interface ParsedToken {
  /** What is signed. */
  input: string
  signature: Buffer
  claims: TokenClaims
}

function parseToken(token: string): ParsedToken | undefined {
  const [header, payload, signature, ...rest] = token.split('.')
  if (header !== HEADER || payload === undefined || signature === undefined || rest.length > 0)
    return undefined
  const bytes = Buffer.from(signature, 'base64url')
  // The second test refuses other spellings of the same bytes: padding, stray characters, loose last bits.
  if (bytes.length !== SIGNATURE_BYTES || bytes.toString('base64url') !== signature) return undefined
  if (scalar(bytes.subarray(32)) > HALF_ORDER) return undefined
  const claims = parseClaims(Buffer.from(payload, 'base64url').toString())
  return claims && { input: `${header}.${payload}`, signature: bytes, claims }
}

/** As far as it is looked at before the signature is known to be the relay's own. */
function parseClaims(json: string): TokenClaims | undefined {
  try {
    const claims = JSON.parse(json) as TokenClaims
    const { iss, sub, nbf, exp, lease_id, identity } = claims
    const areTexts = [iss, sub, lease_id].every((value) => typeof value === 'string')
    const areTimes = typeof nbf === 'number' && typeof exp === 'number'
    return areTexts && areTimes && sub === identityKey(identity.name, identity.address) ? claims : undefined
  } catch {
    return undefined
  }
}

export function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

export function scalar(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString('hex')}`)
}
