// The bandwidth of each lease in this process: a share of what the policy allows its identity.

import type { Lease } from '../lease/lease.ts'
import { Bandwidth } from '../rate-limit/bandwidth.ts'
import type { PolicyRules } from './policy-rules.ts'

export class LeaseBandwidths {
  readonly #policy: Pick<PolicyRules, 'bytesPerSecond'>
  readonly #processes: number
  readonly #bandwidths = new WeakMap<Lease, Bandwidth>()

  /** @param processes that share the work of the relay. Each has an even share, so that none has to ask the others. */
  constructor(policy: Pick<PolicyRules, 'bytesPerSecond'>, processes: number) {
    this.#policy = policy
    this.#processes = processes
  }

  of(lease: Lease): Bandwidth {
    const known = this.#bandwidths.get(lease)
    if (known !== undefined) return known
    const bandwidth = new Bandwidth(() => this.#policy.bytesPerSecond(lease) / this.#processes)
    this.#bandwidths.set(lease, bandwidth)
    return bandwidth
  }
}
