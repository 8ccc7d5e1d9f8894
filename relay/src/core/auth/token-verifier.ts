// Verifies that a trusted issuer signed a token for this use, and that the token is currently valid.

import { type KeyObject, verify } from 'node:crypto'
import { identityKey, TOKEN_HEADER, type TokenClaims } from '@svc/protocol'
import { now } from '../clock.ts'
import type { TokenUse, TrustedIssuers } from './trusted-issuers.ts'
import { type VerifiedToken, VerifiedTokenCache } from './verified-token-cache.ts'

/** The first part of every token. */
export const HEADER: string = encode(TOKEN_HEADER)
const SIGNATURE_BYTES = 64
/** A relay signs no token that is larger. */
const TOKEN_MAX_CHARS = 4096
/** Half of the order of secp256k1: of the two values that verify, only the lower `s` is accepted. */
export const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

export class TokenVerifier {
  readonly #issuers: TrustedIssuers
  readonly #verified = new VerifiedTokenCache()

  constructor(issuers: TrustedIssuers) {
    this.#issuers = issuers
  }

  /**
   * @returns the claims, or undefined when no trusted issuer signed the token for `use`, or it is expired or not valid
   *   yet
   */
  verify(token: string, use: TokenUse): TokenClaims | undefined {
    const read = this.read(token, use)
    return read?.isSigned() ? read.claims : undefined
  }

  /**
   * Reads a token's claims without verifying its signature, which takes a thousand times as long.
   * @returns undefined when the token is malformed, names no trusted issuer, is not for `use`, or is expired or not
   *   valid yet
   */
  read(token: string, use: TokenUse): UncheckedToken | undefined {
    if (token.length > TOKEN_MAX_CHARS) return undefined
    const verified = this.#verified.get(token)
    const parsed = verified ? undefined : parseToken(token)
    const claims = verified?.claims ?? parsed?.claims
    if (claims === undefined) return undefined
    const time = now() / 1000
    const isCurrent = claims.nbf <= time && time < claims.exp
    const issuer = this.#issuers.get(claims.iss)
    const audience = issuer?.audiences.get(claims.aud)
    if (issuer === undefined || audience?.use !== use || !isCurrent) return undefined
    if (audience.accepts?.(claims) === false) return undefined
    const { publicKey } = issuer
    // The issuer's key may have changed.
    const isChecked = verified?.publicKey === publicKey
    return {
      claims,
      isChecked,
      isSigned: () => isChecked || this.#isSigned(token, parsed ?? parseToken(token), publicKey),
    }
  }

  /** Adds a token whose signature is known to be valid. */
  protected remember(token: string, verified: VerifiedToken): void {
    this.#verified.add(token, verified)
  }

  #isSigned(token: string, parsed: ParsedToken | undefined, publicKey: KeyObject): boolean {
    if (parsed === undefined) return false
    const { input, signature, claims } = parsed
    const key = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const
    if (!verify('sha256', Buffer.from(input), key, signature)) return false
    this.remember(token, { claims, publicKey })
    return true
  }
}

/** A token whose signature may be unverified. */
export interface UncheckedToken {
  claims: TokenClaims
  /** Whether {@link isSigned} costs nothing, because the signature was checked before. */
  isChecked: boolean
  isSigned(): boolean
}

interface ParsedToken {
  /** The signed text. */
  input: string
  signature: Buffer
  claims: TokenClaims
}

function parseToken(token: string): ParsedToken | undefined {
  const [header, payload, signature, ...rest] = token.split('.')
  if (header !== HEADER || payload === undefined || signature === undefined || rest.length > 0)
    return undefined
  const bytes = Buffer.from(signature, 'base64url')
  // The second test refuses non-canonical base64url: padding, stray characters, loose last bits.
  if (bytes.length !== SIGNATURE_BYTES || bytes.toString('base64url') !== signature) return undefined
  if (scalar(bytes.subarray(32)) > HALF_ORDER) return undefined
  const claims = parseClaims(Buffer.from(payload, 'base64url').toString())
  return claims && { input: `${header}.${payload}`, signature: bytes, claims }
}

/** Checks the claims that must hold before the signature is verified. */
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
