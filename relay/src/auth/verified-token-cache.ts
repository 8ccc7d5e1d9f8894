// Tokens whose signature was found good: each native session and each signature of a visit shows the same one again.

import { hash } from 'node:crypto'
import type { TokenClaims } from '@svc/protocol'
import { VERIFIED_TOKENS_MAX } from '../limits.ts'

export class VerifiedTokenCache {
  /** By the token's SHA-256, so that no secret is kept, and what a comparison takes says nothing of one. */
  readonly #claims = new Map<string, TokenClaims>()

  get size(): number {
    return this.#claims.size
  }

  /** What is in it may be out of time by now. */
  get(token: string): TokenClaims | undefined {
    return this.#claims.get(digest(token))
  }

  /** The one that was added longest ago makes room. */
  add(token: string, claims: TokenClaims): void {
    this.#claims.set(digest(token), claims)
    if (this.#claims.size > VERIFIED_TOKENS_MAX) this.#claims.delete(this.#claims.keys().next().value!)
  }
}

function digest(token: string): string {
  return hash('sha256', token, 'base64')
}
