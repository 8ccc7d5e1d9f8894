// Caches tokens whose signature was made or verified here: each native session and each signature for a visitor sends
// the same one again.

import { hash, type KeyObject } from 'node:crypto'
import type { TokenClaims } from '@svc/protocol'

/** Tokens whose verified signature the relay remembers, at about 1 KB each: two for each of 2,000 busy leases. */
export const VERIFIED_TOKENS_MAX = 4096

export interface VerifiedToken {
  claims: TokenClaims
  /** The key that verified the signature. The entry is void for any other key. */
  publicKey: KeyObject
}

export class VerifiedTokenCache {
  /** By the whole token's SHA-256, so that no secret is kept, and the timing of a comparison reveals none. */
  readonly #tokens = new Map<string, VerifiedToken>()

  get size(): number {
    return this.#tokens.size
  }

  /** The token may have expired, and its issuer may have another key. */
  get(token: string): VerifiedToken | undefined {
    return this.#tokens.get(digest(token))
  }

  /** Evicts the token that was added longest ago. */
  add(token: string, verified: VerifiedToken): void {
    this.#tokens.set(digest(token), verified)
    if (this.#tokens.size > VERIFIED_TOKENS_MAX) this.#tokens.delete(this.#tokens.keys().next().value!)
  }
}

function digest(token: string): string {
  return hash('sha256', token, 'base64')
}
