// Issues lease tokens and reverse capabilities: JWTs that the relay identity signs with ES256K (RFC 8812).

import { randomBytes, sign } from 'node:crypto'
import { type Audience, identityKey, type TokenClaims } from '@svc/protocol'
import { now } from '../clock.ts'
import type { Lease } from '../lease/lease.ts'
import type { RelayIdentity } from './relay-identity.ts'
import { encode, HALF_ORDER, HEADER, scalar, TokenVerifier } from './token-verifier.ts'
import { ownTokens, type TrustedIssuers } from './trusted-issuers.ts'

const TOKEN_ID_BYTES = 12
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** Addresses of relays, lower case with `0x`. */
export interface Delegation {
  ingress: string
  gateway: string
}

export class TokenIssuer extends TokenVerifier {
  readonly #identity: RelayIdentity
  readonly #issuer: string
  readonly #leewayS: number

  /**
   * @param issuer the relay's URL
   * @param trusted whose tokens are accepted. @default its own
   * @param leewayS seconds by which a token is valid before its issue
   */
  constructor(
    identity: RelayIdentity,
    issuer: string,
    trusted: TrustedIssuers = ownTokens(issuer, identity.publicKey),
    leewayS = 0,
  ) {
    super(trusted)
    this.#identity = identity
    this.#issuer = issuer
    this.#leewayS = leewayS
  }

  /** @param delegation the two relays of a delegated capability */
  issue(lease: Lease, audience: Audience, delegation?: Delegation): string {
    const issuedAt = Math.floor(now() / 1000)
    const { name, address } = lease.identity
    const claims: TokenClaims = {
      iss: this.#issuer,
      sub: identityKey(name, address),
      aud: audience,
      jti: `tok_${randomBytes(TOKEN_ID_BYTES).toString('hex')}`,
      iat: issuedAt,
      nbf: issuedAt - this.#leewayS,
      exp: Math.floor(lease.expiresAt / 1000),
      identity: lease.identity,
      lease_id: lease.id,
      ...delegation,
    }
    const input = `${HEADER}.${encode(claims)}`
    const token = `${input}.${this.#sign(input).toString('base64url')}`
    // A client uses a new token at once, and verifying a signature takes as long as making it.
    this.remember(token, { claims, publicKey: this.#identity.publicKey })
    return token
  }

  #sign(input: string): Buffer {
    const key = { key: this.#identity.privateKey, dsaEncoding: 'ieee-p1363' } as const
    const signature = sign('sha256', Buffer.from(input), key)
    const s = scalar(signature.subarray(32))
    if (s > HALF_ORDER) signature.write((ORDER - s).toString(16).padStart(64, '0'), 32, 'hex')
    return signature
  }
}
