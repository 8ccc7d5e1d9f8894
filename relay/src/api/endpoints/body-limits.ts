// How large the body of a request may be, and on whose account it is in memory.

import type { LeaseCredentials } from '../../auth/lease-authorizer.ts'
import { networkOf } from '../../client-address/ip-address.ts'
import { RelayError } from '../../errors.ts'
import type { Lease } from '../../lease/lease.ts'
import { AUTHENTICATED_BYTES_MAX, AUTHENTICATED_BYTES_PER_LEASE_MAX } from '../../limits.ts'
import { type MemoryShare, RequestMemory } from '../../rate-limit/request-memory.ts'
import { memberWithin } from '../http/json.ts'
import type { BodyLimits } from '../http/read-body.ts'
import type { Auth, JsonBody, RawBody } from './endpoint.ts'

/** What administrators send counts as one client's. */
const ADMIN = 'admin'

export class RequestBodies {
  readonly #credentials: LeaseCredentials
  readonly #unproven: RequestMemory
  readonly #proven: RequestMemory = new RequestMemory({
    perClient: AUTHENTICATED_BYTES_PER_LEASE_MAX,
    total: AUTHENTICATED_BYTES_MAX,
  })

  /** @param unproven of requests without a credential; challenges count there, too */
  constructor(credentials: LeaseCredentials, unproven: RequestMemory) {
    this.#credentials = credentials
    this.#unproven = unproven
  }

  /**
   * @param auth the bearer of an administrator was checked already
   * @param source normalized address of the client
   */
  limitsOf(auth: Auth, body: JsonBody<unknown> | RawBody, source: string): BodyLimits {
    const { maxBytes, deadlineMs } = body
    const share = auth === 'admin' ? this.#proven.share(ADMIN) : this.#unproven.share(networkOf(source))
    const provenMaxBytes = body.kind === 'json' ? body.provenMaxBytes : undefined
    if (provenMaxBytes === undefined) return { maxBytes, deadlineMs, share }
    const prove = (beginning: Buffer): MemoryShare => this.#shareOfHolder(beginning)
    return { maxBytes, deadlineMs, share, proven: { maxBytes: provenMaxBytes, prove } }
  }

  limitsOfLease({ maxBytes, deadlineMs }: JsonBody<unknown> | RawBody, lease: Lease): BodyLimits {
    return { maxBytes, deadlineMs, share: this.#proven.share(lease.id) }
  }

  /** Metadata may be long, and its sender is known only when the token has come: the token has to come first. */
  #shareOfHolder(beginning: Buffer): MemoryShare {
    const token = memberWithin(beginning.toString('latin1'), 'access_token')
    if (token === undefined)
      throw new RelayError(
        'invalid_request',
        `a body of more than ${beginning.length} bytes needs its access_token among the first of them`,
      )
    return this.#proven.share(this.#credentials.leaseOf(token, 'lease').id)
  }
}
