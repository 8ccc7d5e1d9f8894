// Bounds the names that a certificate, or the time after a lease, keeps for identities without a lease. Each account and
// network makes room from its own names.

import { wideNetworkOfNetwork } from '../client-address/ip-address.ts'

/**
 * Names without a lease that certificates keep for one account: about as many as a person with some projects leaves
 * behind. The oldest goes first.
 */
export const CERTIFIED_NAMES_PER_ACCOUNT_MAX = 16
/** The same for a wide network, where accounts cost nothing: a whole /48 takes a third of a hundredth of all. */
export const CERTIFIED_NAMES_PER_NETWORK_MAX = 32
/** Names without a lease that wait for one account until the end of `NAME_GRACE`. The oldest goes first. */
export const GRACE_NAMES_PER_ACCOUNT_MAX = 16
/** The same for a wide network: an office, or a stranger with as many accounts as there are names. */
export const GRACE_NAMES_PER_NETWORK_MAX = 64
/** The same for all networks: some 50 MB. */
export const GRACE_NAMES_MAX = 65_536

export interface KeptNamesLimits {
  perAccount: number
  perNetwork: number
  /** @default without a bound of their own */
  total?: number
}

interface Kept {
  account: string
  network: string
  wideNetwork: string
}

export class KeptNames {
  readonly #limits: KeptNamesLimits
  /** By identity key; the one that left longest ago is first. */
  readonly #kept = new Map<string, Kept>()
  /** Accounts and wide networks, each with its keys in the same order. */
  readonly #groups = new Map<string, Set<string>>()

  constructor(limits: KeptNamesLimits) {
    this.#limits = limits
  }

  has(key: string): boolean {
    return this.#kept.has(key)
  }

  /** The keys, the one that left longest ago first. */
  [Symbol.iterator](): Iterator<string> {
    return this.#kept.keys()
  }

  /**
   * @param network of the client that registered the lease
   * @returns identity keys that gave up their names for it
   */
  add(key: string, network: string): string[] {
    this.remove(key)
    const account = `account ${key.slice(key.lastIndexOf(':') + 1)}`
    const kept = { account, network, wideNetwork: `network ${wideNetworkOfNetwork(network)}` }
    this.#kept.set(key, kept)
    for (const group of [kept.account, kept.wideNetwork])
      this.#groups.set(group, (this.#groups.get(group) ?? new Set()).add(key))
    const { perAccount, perNetwork, total = Number.POSITIVE_INFINITY } = this.#limits
    const over: string[] = []
    if (this.#of(kept.account).size > perAccount) over.push(...this.#giveUp(this.#of(kept.account)))
    if (this.#of(kept.wideNetwork).size > perNetwork)
      over.push(...this.#giveUp(this.#ofLargest(this.#of(kept.wideNetwork))))
    if (this.#kept.size > total) over.push(...this.#giveUp(this))
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
