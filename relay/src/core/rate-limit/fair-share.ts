// Fair shares of a limited resource. While most of it is free, a holder may have all that its own bound allows. After
// that, it may have more only while it has a small part of what is free, so that dozens of holders together do not take
// everything.

import { wideNetworkOfNetwork } from '../client-address/ip-address.ts'

/** Part of the free amount that a holder may have once less than half is free. */
const CROWDED_SHARE: number = 1 / 16

/**
 * Returns whether a holder may have `more`.
 * @param held what the holder has
 * @param free what nobody has of `total`
 */
export function mayHave(more: number, held: number, free: number, total: number): boolean {
  if (more > free) return false
  return held + more <= (2 * free >= total ? free : Math.max(1, free * CROWDED_SHARE))
}

/**
 * Counts what the clients of each network hold, and of the wide network around it: addresses in both cost their owner
 * nothing.
 */
export class NetworkCounts {
  readonly #counts = new Map<string, number>()

  /** What a network holds. */
  of(network: string): number {
    return this.#counts.get(network) ?? 0
  }

  /** As {@link mayHave}, for the network and for its neighbours together. */
  mayHave(more: number, network: string, free: number, total: number): boolean {
    const held = Math.max(this.of(network), this.of(wideKey(network)))
    return mayHave(more, held, free, total)
  }

  /** @param change more or less than before */
  add(network: string, change: number): void {
    for (const key of [network, wideKey(network)]) {
      const count = this.of(key) + change
      if (count > 0) this.#counts.set(key, count)
      else this.#counts.delete(key)
    }
  }
}

/** It differs from every network. */
function wideKey(network: string): string {
  return `${wideNetworkOfNetwork(network)}*`
}
