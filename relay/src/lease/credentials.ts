// What a lease's holder is given to prove it with, and which active lease a token stands for.

import type { Audience, Identity } from '@svc/protocol'
import { RelayError } from '../errors.ts'
import type { Lease } from './lease.ts'
import type { TokenVerifier } from './token-verifier.ts'
import type { Tokens } from './tokens.ts'

/** Where active leases are found. */
interface ActiveLeases {
  find(identity: Identity, id: string): Lease | undefined
}

export class Admissions {
  readonly #tokens: TokenVerifier
  readonly #leases: ActiveLeases

  constructor(tokens: TokenVerifier, leases: ActiveLeases) {
    this.#tokens = tokens
    this.#leases = leases
  }

  /**
   * The active lease that `token` stands for.
   * @throws RelayError `unauthorized` for a token that is not valid for `audience`, `lease_not_found` for one whose
   * lease instance has ended
   */
  leaseOf(token: string, audience: Audience): Lease {
    const claims = this.#tokens.verify(token, audience)
    if (claims === undefined) throw new RelayError('unauthorized', 'the token is not valid here')
    const lease = this.#leases.find(claims.identity, claims.lease_id)
    if (lease === undefined) throw new RelayError('lease_not_found', 'the lease has ended')
    return lease
  }
}

export class Credentials extends Admissions {
  readonly #tokens: Tokens

  constructor(tokens: Tokens, leases: ActiveLeases) {
    super(tokens, leases)
    this.#tokens = tokens
  }

  /** A token for `audience` that lives as long as the lease does now. */
  issue(lease: Lease, audience: Audience): string {
    return this.#tokens.issue(lease, audience)
  }
}
