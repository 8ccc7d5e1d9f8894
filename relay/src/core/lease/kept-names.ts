// Bounds the names that a certificate keeps for identities without a lease. Each account and network makes room from
// its own names.

import { wideNetworkOfNetwork } from '../client-address/ip-address.ts'

/**
 * Names without a lease that certificates keep for one account: about as many as a person with some projects leaves
 * behind. The oldest goes first.
 */
export const CERTIFIED_NAMES_PER_ACCOUNT_MAX = 16
/** The same for a wide network, where accounts cost nothing: a whole /48 takes a third of a hundredth of all. */
export const CERTIFIED_NAMES_PER_NETWORK_MAX = 32

interface Kept {
  account: string
  network: string
  wideNetwork: string
}

export class KeptNames {
  /** By identity key; the one that left longest ago is first. */
  readonly #kept = new Map<string, Kept>()
  /** Accounts and wide networks, each with its keys in the same order. */
  readonly #groups = new Map<string, Set<string>>()

  has(key: string): boolean {
    return this.#kept.has(key)
  }

  /**
   * @param network of the client that registered the lease with the certificate
   * @returns identity keys that gave up their names for it
   */
  add(key: string, network: string): string[] {
    this.remove(key)
    const account = `account ${key.slice(key.lastIndexOf(':') + 1)}`
    const kept = { account, network, wideNetwork: `network ${wideNetworkOfNetwork(network)}` }
    this.#kept.set(key, kept)
    for (const group of [kept.account, kept.wideNetwork])
      this.#groups.set(group, (this.#groups.get(group) ?? new Set()).add(key))
    const over: string[] = []
    if (this.#of(kept.account).size > CERTIFIED_NAMES_PER_ACCOUNT_MAX)
      over.push(...this.#giveUp(this.#of(kept.account)))
    if (this.#of(kept.wideNetwork).size > CERTIFIED_NAMES_PER_NETWORK_MAX)
      over.push(...this.#giveUp(this.#ofLargest(this.#of(kept.wideNetwork))))
    return over
  }

  remove(key: string): void {
    const kept = this.#kept.get(key)
    if (kept === undefined) return
    this.#kept.delete(key)
    for (const group of [kept.account, kept.wideNetwork]) {
      const keys = this.#of(group)
      keys.delete(key)
      if (keys.size === 0) this.#groups.delete(group)
    }
  }

  #of(group: string): Set<string> {
    return this.#groups.get(group) ?? new Set()
  }

  #giveUp([first]: Iterable<string>): string[] {
    if (first === undefined) return []
    this.remove(first)
    return [first]
  }

  /** The names of the address that has most in a wide network, so that it does not displace its neighbours' names. */
  #ofLargest(keys: ReadonlySet<string>): Set<string> {
    const byNetwork = new Map<string, Set<string>>()
    let largest = new Set<string>()
    for (const key of keys) {
      const { network } = this.#kept.get(key)!
      const same = (byNetwork.get(network) ?? new Set()).add(key)
      byNetwork.set(network, same)
      if (same.size > largest.size) largest = same
    }
    return largest
  }
}
