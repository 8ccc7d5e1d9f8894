// A queue with a lane for each network. Lanes take turns, so that a crowd of sites of one network delays only its own
// sites.

import { NetworkCounts } from '../../core/rate-limit/fair-share.ts'

export class FairQueue<T> {
  readonly #laneMax: number
  readonly #max: number
  /** Items by lane, which is a network. */
  readonly #perNetwork = new NetworkCounts()
  /** Lanes that are not empty, in the order of their turns. */
  readonly #lanes = new Map<string, Set<T>>()
  #size = 0

  /**
   * @param laneMax items that may wait in one lane
   * @param max items that may wait in all lanes
   */
  constructor(laneMax: number, max: number) {
    this.#laneMax = laneMax
    this.#max = max
  }

  get size(): number {
    return this.#size
  }

  hasRoom(lane: string): boolean {
    const isBelow = (this.#lanes.get(lane)?.size ?? 0) < this.#laneMax
    return isBelow && this.#perNetwork.mayHave(1, lane, this.#max - this.#size, this.#max)
  }

  push(lane: string, item: T): void {
    const items = this.#lanes.get(lane) ?? new Set()
    this.#lanes.set(lane, items)
    items.add(item)
    this.#count(lane, 1)
  }

  /** Takes the oldest item of the lane whose turn it is. */
  shift(): T | undefined {
    const [next] = this.#lanes
    if (next === undefined) return undefined
    const [lane, items] = next
    const [item] = items as Set<T & {}>
    items.delete(item!)
    this.#count(lane, -1)
    this.#lanes.delete(lane)
    if (items.size > 0) this.#lanes.set(lane, items)
    return item
  }

  /** Removes and returns the obsolete items. */
  purge(isObsolete: (item: T) => boolean): T[] {
    const removed: T[] = []
    for (const [lane, items] of this.#lanes) {
      for (const item of items)
        if (isObsolete(item) && items.delete(item)) {
          removed.push(item)
          this.#count(lane, -1)
        }
      if (items.size === 0) this.#lanes.delete(lane)
    }
    return removed
  }

  #count(lane: string, change: 1 | -1): void {
    this.#size += change
    this.#perNetwork.add(lane, change)
  }
}
