// Bounds how often passwords and tokens can be guessed: from each network, and from all together.

import { TokenBucket } from '../timers/token-bucket.ts'
import {
  KNOWN_NETWORKS_MAX,
  NETWORK_GUESSES_BURST,
  NETWORK_GUESSES_PER_S,
  NETWORKS_MAX,
  TOTAL_GUESSES_BURST,
  TOTAL_GUESSES_PER_S,
} from './limits.ts'
import { RecentMap } from './recent-map.ts'

/** A Guess is an attempt to sign in that may be checked. */
export interface Guess {
  /** The attempt was right: it does not count, and its network has a share of its own from now on. */
  right(): void
}

/** GuessLimiter lets few attempts through, and those of networks that had a right one before from a share of their own. */
export class GuessLimiter {
  readonly #networks = new RecentMap<TokenBucket>(NETWORKS_MAX)
  readonly #known = new RecentMap<true>(KNOWN_NETWORKS_MAX)
  readonly #ofStrangers = new TokenBucket(TOTAL_GUESSES_BURST, TOTAL_GUESSES_PER_S)
  readonly #ofKnown = new TokenBucket(TOTAL_GUESSES_BURST, TOTAL_GUESSES_PER_S)

  /**
   * @param network undefined when the visitor's address is unknown: then all such visitors share the total alone
   * @returns undefined when there were too many
   */
  take(network: string | undefined): Guess | undefined {
    const own = network === undefined ? undefined : this.#bucketOf(network)
    const all = network !== undefined && this.#known.get(network) ? this.#ofKnown : this.#ofStrangers
    if (own?.take() === false) return undefined
    if (!all.take()) {
      own?.refill(1)
      return undefined
    }
    return {
      right: () => {
        own?.refill(1)
        all.refill(1)
        if (network !== undefined) this.#known.set(network, true)
      },
    }
  }

  #bucketOf(network: string): TokenBucket {
    return this.#networks.get(network, () => new TokenBucket(NETWORK_GUESSES_BURST, NETWORK_GUESSES_PER_S))
  }
}
