// Counts the requests to live sites in progress, and admits new ones.

import type { Lease } from '../../../core/lease/lease.ts'
import { LIVE_REQUESTS_PER_NETWORK_MAX, LIVE_REQUESTS_PER_SITE_MAX, LIVE_RESERVED_SHARE } from './limits.ts'

/** The slot of a request, from its head to the end of its response. */
export class LiveSlot {
  readonly lease: Lease
  readonly network: string | undefined
  /** Aborted when another request needs the slot more. */
  readonly cut: AbortController = new AbortController()
  readonly #leave: (slot: LiveSlot) => void
  #heardAt = Number.POSITIVE_INFINITY

  constructor(lease: Lease, network: string | undefined, leave: (slot: LiveSlot) => void) {
    this.lease = lease
    this.network = network
    this.#leave = leave
  }

  /** Time of the response's last progress; infinite until it begins, since that has a deadline of its own. */
  get heardAt(): number {
    return this.#heardAt
  }

  /** Records progress of the response. */
  heard(): void {
    this.#heardAt = performance.now()
  }

  /** Gives the slot back. Further calls do nothing. */
  leave(): void {
    this.#leave(this)
  }
}

export class LiveSiteAdmission {
  readonly #max: number
  readonly #reserved: number
  readonly #quietMs: number
  readonly #slots = new Set<LiveSlot>()
  /** Numbers of requests, for leases and networks that have any. */
  readonly #perSite = new Map<Lease, number>()
  readonly #perNetwork = new Map<string, number>()

  /**
   * @param max requests to all sites at once
   * @param quietMs milliseconds without progress before a response makes room for another request
   */
  constructor(max: number, quietMs: number) {
    this.#max = max
    this.#reserved = Math.floor(max * LIVE_RESERVED_SHARE)
    this.#quietMs = quietMs
  }

  /**
   * Counts a request until its slot is given back.
   * @param network undefined when an address stands for many clients
   * @returns undefined when there are too many
   */
  enter(lease: Lease, network: string | undefined): LiveSlot | undefined {
    const ofSite = this.#perSite.get(lease) ?? 0
    const ofNetwork = network === undefined ? 0 : (this.#perNetwork.get(network) ?? 0)
    if (ofNetwork >= LIVE_REQUESTS_PER_NETWORK_MAX) return undefined
    if (ofSite >= LIVE_REQUESTS_PER_SITE_MAX && !this.#cutQuietest((slot) => slot.lease === lease))
      return undefined
    const max = ofSite === 0 ? this.#max : this.#max - this.#reserved
    // A site takes no slot from one that has fewer.
    const hasMore = (slot: LiveSlot): boolean => this.#perSite.get(slot.lease)! >= ofSite
    if (this.#slots.size >= max && !this.#cutQuietest(hasMore)) return undefined
    const slot = new LiveSlot(lease, network, (left) => this.#remove(left))
    this.#slots.add(slot)
    this.#count(slot, 1)
    return slot
  }

  /** @returns whether one was quiet for long enough */
  #cutQuietest(isMeant: (slot: LiveSlot) => boolean): boolean {
    let quietest: LiveSlot | undefined
    for (const slot of this.#slots)
      if (isMeant(slot) && slot.heardAt < (quietest?.heardAt ?? Number.POSITIVE_INFINITY)) quietest = slot
    if (quietest === undefined || performance.now() - quietest.heardAt < this.#quietMs) return false
    quietest.leave()
    quietest.cut.abort()
    return true
  }

  #remove(slot: LiveSlot): void {
    if (this.#slots.delete(slot)) this.#count(slot, -1)
  }

  #count({ lease, network }: LiveSlot, change: 1 | -1): void {
    addTo(this.#perSite, lease, change)
    if (network !== undefined) addTo(this.#perNetwork, network, change)
  }
}

function addTo<Key>(counts: Map<Key, number>, key: Key, change: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + change
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}
