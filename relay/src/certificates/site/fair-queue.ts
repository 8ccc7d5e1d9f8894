// A queue with a lane for each network, which take turns: a crowd of sites of one network delays its own sites alone.

export class FairQueue<T> {
  readonly #laneMax: number
  /** Lanes that are not empty, in the order of their turns. */
  readonly #lanes = new Map<string, Set<T>>()
  #size = 0

  /** @param laneMax items that may wait in one lane */
  constructor(laneMax: number) {
    this.#laneMax = laneMax
  }

  get size(): number {
    return this.#size
  }

  hasRoom(lane: string): boolean {
    return (this.#lanes.get(lane)?.size ?? 0) < this.#laneMax
  }

  push(lane: string, item: T): void {
    const items = this.#lanes.get(lane) ?? new Set()
    this.#lanes.set(lane, items)
    items.add(item)
    this.#size += 1
  }

  /** Takes the oldest item of the lane whose turn it is. */
  shift(): T | undefined {
    const [next] = this.#lanes
    if (next === undefined) return undefined
    const [lane, items] = next
    const [item] = items as Set<T & {}>
    items.delete(item!)
    this.#size -= 1
    this.#lanes.delete(lane)
    if (items.size > 0) this.#lanes.set(lane, items)
    return item
  }

  /** Removes the items that `isObsolete` says. */
  purge(isObsolete: (item: T) => boolean): T[] {
    const removed: T[] = []
    for (const [lane, items] of this.#lanes) {
      for (const item of items) if (isObsolete(item) && items.delete(item)) removed.push(item)
      if (items.size === 0) this.#lanes.delete(lane)
    }
    this.#size -= removed.length
    return removed
  }
}
