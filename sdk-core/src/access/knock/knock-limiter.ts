// Bounds how often visitors knock: from each network, from each wide one, and from all together.

import { TokenBucket } from '../../timers/token-bucket.ts'
import { RecentMap } from '../recent-map.ts'
import {
  ANSWERS_MAX,
  NETWORK_KNOCKS_BURST,
  NETWORK_KNOCKS_PER_S,
  NETWORKS_MAX,
  TOTAL_KNOCKS_BURST,
  TOTAL_KNOCKS_PER_S,
  WIDE_KNOCKS_BURST,
  WIDE_KNOCKS_PER_S,
} from './limits.ts'
import type { Knocker } from './place.ts'

export class KnockLimiter {
  readonly #networks = new RecentMap<TokenBucket>(NETWORKS_MAX)
  readonly #wides = new RecentMap<TokenBucket>(NETWORKS_MAX)
  /** The networks from which somebody was let in. */
  readonly #known = new RecentMap<true>(ANSWERS_MAX)
  readonly #ofStrangers = new TokenBucket(TOTAL_KNOCKS_BURST, TOTAL_KNOCKS_PER_S)
  readonly #ofKnown = new TokenBucket(TOTAL_KNOCKS_BURST, TOTAL_KNOCKS_PER_S)

  /** @returns whether this one may knock now; a refusal takes no share of the others */
  take({ network, wide }: Knocker): boolean {
    const taken: TokenBucket[] = []
    for (const bucket of this.#bucketsOf(network, wide)) {
      if (!bucket.take()) {
        for (const other of taken) other.refill(1)
        return false
      }
      taken.push(bucket)
    }
    return true
  }

  /** Notes that somebody of this network was let in: it has a share of its own from now on. */
  know(network: string | undefined): void {
    if (network !== undefined) this.#known.set(network, true)
  }

  #bucketsOf(network: string | undefined, wide: string): TokenBucket[] {
    // Without an address, there is only the total.
    if (network === undefined) return [this.#ofStrangers]
    const own = this.#networks.get(network, () => new TokenBucket(NETWORK_KNOCKS_BURST, NETWORK_KNOCKS_PER_S))
    if (this.#known.get(network)) return [own, this.#ofKnown]
    const all = this.#wides.get(wide, () => new TokenBucket(WIDE_KNOCKS_BURST, WIDE_KNOCKS_PER_S))
    return [own, all, this.#ofStrangers]
  }
}
