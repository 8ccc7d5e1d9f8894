// How large the body of a request may be, and on whose account it is in memory.

import type { LeaseCredentials } from '../../auth/lease-authorizer.ts'
import { networkOf } from '../../client-address/ip-address.ts'
import { RelayError } from '../../errors.ts'
import type { Lease } from '../../lease/lease.ts'
import { AUTHENTICATED_BYTES_MAX, AUTHENTICATED_BYTES_PER_LEASE_MAX } from '../../limits.ts'
import { type MemoryShare, RequestMemory } from '../../rate-limit/request-memory.ts'
import { memberWithin } from '../http/json.ts'
import type { BodyLimits } from '../http/read-body.ts'
import type { Endpoint } from './endpoints.ts'

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

  /** @param source normalized address of the client. Who asks as an administrator has shown the bearer already. */
  boundsOf({ auth, bodyMaxBytes, provenMaxBytes }: AnyEndpoint, source: string): BodyLimits {
    const share = auth === 'admin' ? this.#proven.share(ADMIN) : this.#unproven.share(networkOf(source))
    if (provenMaxBytes === undefined) return { maxBytes: bodyMaxBytes, share }
    const prove = (beginning: Buffer): MemoryShare => this.#shareOfHolder(beginning)
    return { maxBytes: bodyMaxBytes, share, proven: { maxBytes: provenMaxBytes, prove } }
  }

  boundsOfLease({ bodyMaxBytes }: AnyEndpoint, lease: Lease): BodyLimits {
    return { maxBytes: bodyMaxBytes, share: this.#proven.share(lease.id) }
  }

  /** Metadata may be long, and who sends it is known only when the token has come: it has to come first. */
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

type AnyEndpoint = Pick<Endpoint<never, never>, 'auth' | 'bodyMaxBytes' | 'provenMaxBytes'>
