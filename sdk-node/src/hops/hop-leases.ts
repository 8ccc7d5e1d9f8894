// The leases of a site at the relays of its route after the first: they allow it to use the relay, and are never listed.

import { LEASE_TTL_DEFAULT_S } from '@svc/protocol'
import {
  type KeyIdentity,
  LeaseKeeper,
  type Registration,
  type RelayClient,
  type SvcError,
} from '@svc/sdk-core'

interface HopLeaseOptions {
  client: RelayClient
  name: string
  identity: KeyIdentity
  /** Asks the relay for the address of each visitor. */
  visitorAddress: boolean
  /** The option of `publish`. Only a relay that asks for an invitation gets it. */
  invitation: string | undefined
  /** Called when the relay no longer knows the lease. */
  gone(error: SvcError): void
}

export class HopLease {
  readonly #keeper: LeaseKeeper
  readonly #request: ConstructorParameters<typeof LeaseKeeper>[1]
  readonly #invitation: string | undefined
  #acquiring: Promise<Registration> | undefined

  constructor({ client, name, identity, visitorAddress, invitation, gone }: HopLeaseOptions) {
    this.#invitation = invitation
    this.#request = {
      name,
      identity,
      visitorAddress,
      ttlS: LEASE_TTL_DEFAULT_S,
      allowCanonicalFallback: true,
      metadata: { hide: true },
    }
    const nothing = (): void => {}
    this.#keeper = new LeaseKeeper(client, this.#request, {
      registered: nothing,
      renewed: nothing,
      failed: nothing,
      reduced: nothing,
      gone,
    })
  }

  /** The lease as it was last granted. */
  get current(): Registration | undefined {
    return this.#keeper.lease
  }

  /**
   * Resolves with the lease, and registers one if there is none. Concurrent callers share it.
   * @param trusting returns a lease that is not yet due without asking the relay
   * @throws SvcError
   */
  acquire(trusting: boolean): Promise<Registration> {
    this.#acquiring ??= this.#acquire(trusting).finally(() => {
      this.#acquiring = undefined
    })
    return this.#acquiring
  }

  async #acquire(trusting: boolean): Promise<Registration> {
    const acquire = (): Promise<Registration> => this.#keeper.acquire(new AbortController().signal, trusting)
    return acquire().catch((error: SvcError) => {
      const isFirst = this.#request.invitation !== this.#invitation
      if (error.code !== 'invitation_required' || !isFirst) throw error
      this.#request.invitation = this.#invitation
      return acquire()
    })
  }

  /** Renews in the background. */
  renew(): void {
    this.#keeper.renewNow()
  }

  /** Renews when that is due. */
  touch(): void {
    this.#keeper.touch()
  }

  async release(): Promise<void> {
    await this.#keeper.release(false)
  }
}
