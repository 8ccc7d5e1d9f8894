// Limits the size of request bodies, and counts their memory for the network or lease that sends them.

import type { LeaseCredentials } from '../../auth/lease-authorizer.ts'
import { networkOf } from '../../client-address/ip-address.ts'
import { RelayError } from '../../errors.ts'
import type { Lease } from '../../lease/lease.ts'
import { type MemoryShare, RequestMemory } from '../../rate-limit/request-memory.ts'
import { memberWithin } from '../http/json.ts'
import type { BodyLimits } from '../http/read-body.ts'
import type { Auth, JsonBody, RawBody } from './endpoint.ts'

/**
 * Bytes in memory of requests that came with the token of one lease: some hundred handshakes that wait for a
 * signature.
 */
const AUTHENTICATED_BYTES_PER_LEASE_MAX = 4 * 1024 * 1024
/** The same for all leases. */
const AUTHENTICATED_BYTES_MAX = 64 * 1024 * 1024

/** All administrators share one memory limit. */
const ADMIN = 'admin'

export class RequestBodies {
  readonly #credentials: LeaseCredentials
  readonly #unauthenticated: RequestMemory
  readonly #authenticated: RequestMemory = new RequestMemory({
    perClient: AUTHENTICATED_BYTES_PER_LEASE_MAX,
    total: AUTHENTICATED_BYTES_MAX,
  })

  /** @param unauthenticated memory of requests without a credential, which open challenges share */
  constructor(credentials: LeaseCredentials, unauthenticated: RequestMemory) {
    this.#credentials = credentials
    this.#unauthenticated = unauthenticated
  }

  /**
   * @param auth the bearer of an administrator was checked already
   * @param source normalized address of the client
   */
  limitsOf(auth: Auth, body: JsonBody<unknown> | RawBody, source: string): BodyLimits {
    const { maxBytes, deadlineMs } = body
    const share =
      auth === 'admin' ? this.#authenticated.share(ADMIN) : this.#unauthenticated.share(networkOf(source))
    if (body.kind === 'raw') return { maxBytes, deadlineMs, share }
    const { maxValues, withTokenMaxBytes } = body
    if (withTokenMaxBytes === undefined) return { maxBytes, deadlineMs, maxValues, share }
    const authenticate = (beginning: Buffer): MemoryShare => this.#shareOfToken(beginning)
    const withToken = { maxBytes: withTokenMaxBytes, authenticate }
    return { maxBytes, deadlineMs, maxValues, share, withToken }
  }

  limitsOfLease({ maxBytes, deadlineMs, maxValues }: JsonBody<unknown>, lease: Lease): BodyLimits {
    return { maxBytes, deadlineMs, maxValues, share: this.#authenticated.share(lease.id) }
  }

  /** Metadata may be long, and its sender is known only when the token has come: the token has to come first. */
  #shareOfToken(beginning: Buffer): MemoryShare {
    const token = memberWithin(beginning.toString('latin1'), 'access_token')
    if (token === undefined)
      throw new RelayError(
        'invalid_request',
        `a body of more than ${beginning.length} bytes needs its access_token among the first of them`,
      )
    return this.#authenticated.share(this.#credentials.leaseOf(token, 'lease').id)
  }
}
