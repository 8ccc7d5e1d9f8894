// The claims of the tokens that the relay signs with its identity key (JWT, ES256K). SDKs treat them as opaque.

import type { Identity } from './messages.ts'

/** TOKEN_HEADER is the header of lease tokens and reverse capabilities (RFC 7515 §4). */
export const TOKEN_HEADER = { alg: 'ES256K', typ: 'JWT' } as const

/** AUDIENCE has the `aud` of each kind of token, so that none is mistaken for another. */
export const AUDIENCE = {
  /** The lease token: for renew, unregister, reverse rotation, signer, cache and datagram tunnel. */
  lease: 'svc-sdk',
  /** The reverse capability: for `/sdk/connect` only. */
  reverse: 'svc-reverse',
  /** The delegated capability: for `/sdk/connect` of one gateway, which forwards the session to the relay of the lease. */
  overlayReverse: 'svc-overlay-reverse',
} as const

/** Audience is one of {@link AUDIENCE}. */
export type Audience = (typeof AUDIENCE)[keyof typeof AUDIENCE]

/** TokenClaims are the claims of a lease token or a capability (RFC 7519 §4; docs/protocol.md §5). Times are seconds. */
export interface TokenClaims {
  /** The origin of the relay's URL. */
  iss: string
  /** The identity key: `name:address` in lower case. */
  sub: string
  /** The audience: one of {@link AUDIENCE}, or another relay's. */
  aud: string
  /** A unique id that begins with `tok_`. */
  jti: string
  /** The time of issue, in seconds since the epoch. */
  iat: number
  /** The time from which the token is valid: the time of issue. */
  nbf: number
  /** The expiry of the token: that of the lease at the time of issue. */
  exp: number
  /** The identity of the lease, normalized. */
  identity: Identity
  /** The id of one lease instance. A replaced lease has another one. */
  lease_id: string
  /** The address of the relay of the lease, lower case with `0x`. Only a delegated capability has it. */
  ingress?: string | undefined
  /** The address of the gateway, in the same form. */
  gateway?: string | undefined
}
