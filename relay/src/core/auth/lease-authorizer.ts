// The credentials that prove a lease to this relay, and the active lease that a token stands for.

import { GcraLimiter } from '@svc/node-kit/gcra'
import { AUDIENCE, type Audience, type Identity, type TokenClaims } from '@svc/protocol'
import { RelayError, SHARED_STATE_RETRY_S } from '../errors.ts'
import type { Lease } from '../lease/lease.ts'
import type { Delegation, TokenIssuer } from './token-issuer.ts'
import type { TokenVerifier, UncheckedToken } from './token-verifier.ts'
import type { TokenUse } from './trusted-issuers.ts'

/**
 * Signatures that the relay verifies for tokens without an active lease. Each takes some 0.6 ms of the thread that
 * serves visitors.
 */
const UNKNOWN_LEASE_TOKENS_PER_MINUTE = 1200
/** The same at once. */
const UNKNOWN_LEASE_TOKENS_BURST = 200
/**
 * Forged tokens that name the same active lease. Beyond that, the relay refuses unverified tokens of that lease. Only
 * its holder knows its id.
 */
const FORGED_TOKENS_PER_MINUTE = 60
/** The same at once. */
const FORGED_TOKENS_BURST = 100

/** Finds active leases. */
interface ActiveLeases {
  find(identity: Identity, id: string): Lease | undefined
}

/** Whether a lease that is not active here has ended. A machine of a cluster may not know it yet. */
export type IsOver = (identity: Identity, id: string) => boolean

export class LeaseAuthorizer {
  readonly #tokens: TokenVerifier
  readonly #leases: ActiveLeases
  readonly #isOver: IsOver
  readonly #stale: GcraLimiter = new GcraLimiter(1, {
    perMinute: UNKNOWN_LEASE_TOKENS_PER_MINUTE,
    burst: UNKNOWN_LEASE_TOKENS_BURST,
  })
  /** One for each lease that a forged token named. */
  readonly #forged = new WeakMap<Lease, GcraLimiter>()

  constructor(tokens: TokenVerifier, leases: ActiveLeases, isOver: IsOver = () => true) {
    this.#tokens = tokens
    this.#leases = leases
    this.#isOver = isOver
  }

  /**
   * The active lease that `token` stands for.
   * @throws RelayError `unauthorized` for a token that is not valid for `use`, `lease_not_found` for one whose lease
   * instance has ended, `feature_unavailable` while this is unknown
   */
  leaseOf(token: string, use: TokenUse): Lease {
    return this.proofOf(token, use).lease
  }

  /** The same, with what the token says. @throws RelayError as {@link leaseOf} does */
  proofOf(token: string, use: TokenUse): { lease: Lease; claims: TokenClaims } {
    const read = this.#tokens.read(token, use)
    if (read === undefined) throw notValid()
    const { identity, lease_id } = read.claims
    const lease = this.#leases.find(identity, lease_id)
    if (lease === undefined) {
      // Beyond the rate limit the relay does not verify the signature: the lease has ended in any case.
      if (!read.isChecked && spend(this.#stale) && !read.isSigned()) throw notValid()
      throw this.#isOver(identity, lease_id)
        ? new RelayError('lease_not_found', 'the lease has ended')
        : uncertain()
    }
    if (!this.#isSigned(read, lease)) throw notValid()
    return { lease, claims: read.claims }
  }

  #isSigned(token: UncheckedToken, lease: Lease): boolean {
    const forged = this.#forged.get(lease)
    if (!token.isChecked && forged && forged.waitMs(0, 1, performance.now()) > 0) return false
    if (token.isSigned()) return true
    const rates =
      forged ?? new GcraLimiter(1, { perMinute: FORGED_TOKENS_PER_MINUTE, burst: FORGED_TOKENS_BURST })
    rates.spend(0, 1, performance.now())
    this.#forged.set(lease, rates)
    return false
  }
}

/** Spends one unit. @returns false when there was none */
function spend(rates: GcraLimiter): boolean {
  const now = performance.now()
  if (rates.waitMs(0, 1, now) > 0) return false
  rates.spend(0, 1, now)
  return true
}

function uncertain(): RelayError {
  return new RelayError(
    'feature_unavailable',
    'this machine cannot tell for a moment whether the lease exists',
    {
      'Retry-After': `${SHARED_STATE_RETRY_S}`,
    },
  )
}

function notValid(): RelayError {
  return new RelayError('unauthorized', 'the token is not valid here')
}

export class LeaseCredentials extends LeaseAuthorizer {
  readonly #tokens: TokenIssuer

  constructor(tokens: TokenIssuer, leases: ActiveLeases, isOver?: IsOver) {
    super(tokens, leases, isOver)
    this.#tokens = tokens
  }

  /** A token for `audience` that lives as long as the lease does now. */
  issue(lease: Lease, audience: Audience): string {
    return this.#tokens.issue(lease, audience)
  }

  /** A delegated capability, which lives as long as the lease does now. */
  delegate(lease: Lease, delegation: Delegation): string {
    return this.#tokens.issue(lease, AUDIENCE.overlayReverse, delegation)
  }
}
