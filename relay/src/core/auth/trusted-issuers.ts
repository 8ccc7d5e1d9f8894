// Lists the issuers whose tokens this process accepts, and the use of each audience. A new row admits another one.

import type { KeyObject } from 'node:crypto'
import { AUDIENCE, type TokenClaims } from '@svc/protocol'

/**
 * The uses of a token; none substitutes for another.
 * - `lease`: renew, unregister, sign and the like
 * - `reverse`: reverse sessions at the relay itself
 * - `delegated`: reverse sessions through one gateway
 */
export type TokenUse = 'lease' | 'reverse' | 'delegated'

interface TrustedAudience {
  use: TokenUse
  /** Whether a token has the further claims that this audience requires. @default always true */
  accepts?: (claims: TokenClaims) => boolean
}

export interface TrustedIssuer {
  /** Of secp256k1. Replacing the key also invalidates the tokens that the old one signed. */
  publicKey: KeyObject
  /** By `aud`. Tokens of this issuer for any other audience are refused. */
  audiences: ReadonlyMap<string, TrustedAudience>
}

/** By `iss`. The table may change while it is in use. */
export type TrustedIssuers = ReadonlyMap<string, TrustedIssuer>

/**
 * The table of a relay that accepts only its own tokens.
 * @param issuer the relay's URL
 */
export function ownTokens(issuer: string, publicKey: KeyObject): TrustedIssuers {
  const audiences = new Map<string, TrustedAudience>([
    [AUDIENCE.lease, { use: 'lease' }],
    [AUDIENCE.reverse, { use: 'reverse' }],
    [AUDIENCE.overlayReverse, { use: 'delegated' }],
  ])
  return new Map([[issuer, { publicKey, audiences }]])
}
