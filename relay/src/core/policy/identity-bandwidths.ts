// The bandwidth of each identity in this process: a share of what the policy allows it.

import type { Lease } from '../lease/lease.ts'
import { Bandwidth } from '../rate-limit/bandwidth.ts'
import type { PolicyRules } from './policy-rules.ts'

/** Anything of an identity that has visitors, such as a lease. */
type OfIdentity = Readonly<Pick<Lease, 'identityKey'>>

export class IdentityBandwidths {
  readonly #policy: Pick<PolicyRules, 'bytesPerSecond'>
  readonly #processes: () => number
  /** The bandwidths that owners keep alive, by identity key. */
  readonly #shared = new Map<string, WeakRef<Bandwidth>>()
  readonly #byOwner = new WeakMap<OfIdentity, Bandwidth>()
  readonly #dropped = new FinalizationRegistry<string>((identityKey) => {
    if (this.#shared.get(identityKey)?.deref() === undefined) this.#shared.delete(identityKey)
  })

  /**
   * @param processes number of processes that share the relay's work; each gets an equal share without asking the
   *   others
   */
  constructor(policy: Pick<PolicyRules, 'bytesPerSecond'>, processes: () => number) {
    this.#policy = policy
    this.#processes = processes
  }

  /** All owners of an identity share one bandwidth, which lives as long as one of them. */
  of(owner: OfIdentity): Bandwidth {
    const known = this.#byOwner.get(owner)
    if (known !== undefined) return known
    const bandwidth = this.#shared.get(owner.identityKey)?.deref() ?? this.#create(owner.identityKey)
    this.#byOwner.set(owner, bandwidth)
    return bandwidth
  }

  /** The same, but undefined while the policy does not limit the identity. */
  limitOf(owner: OfIdentity): Bandwidth | undefined {
    return this.#policy.bytesPerSecond(owner) === 0 ? undefined : this.of(owner)
  }

  #create(identityKey: string): Bandwidth {
    const bandwidth = new Bandwidth(() => this.#policy.bytesPerSecond({ identityKey }) / this.#processes())
    this.#shared.set(identityKey, new WeakRef(bandwidth))
    this.#dropped.register(bandwidth, identityKey)
    return bandwidth
  }
}
