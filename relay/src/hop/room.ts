// Counts what leases or owners hold of something that a relay has so many of, and gives each no more than its share.

export interface RoomLimits {
  /** Of all holders. */
  max: number
  /** Of one holder, while at most half is held. */
  perHolder: number
  /** Of one holder beyond that, so that few holders do not take everything. */
  perHolderWhenHalfFull: number
}

/** The reasons for which a holder gets no more. */
export type RoomRefusal = 'full' | 'holder_full'

export class Room<Holder> {
  readonly #limits: RoomLimits
  readonly #held = new Map<Holder, number>()
  #size = 0

  constructor(limits: RoomLimits) {
    this.#limits = limits
  }

  /** The total that all hold. */
  get size(): number {
    return this.#size
  }

  /** @returns undefined when the holder may have one more */
  refusalOf(holder: Holder): RoomRefusal | undefined {
    const { max, perHolder, perHolderWhenHalfFull } = this.#limits
    if (this.#size >= max) return 'full'
    const share = this.#size * 2 < max ? perHolder : perHolderWhenHalfFull
    return (this.#held.get(holder) ?? 0) >= share ? 'holder_full' : undefined
  }

  /** @returns a function that gives it back, to be called once */
  take(holder: Holder): () => void {
    this.#count(holder, 1)
    return () => this.#count(holder, -1)
  }

  #count(holder: Holder, delta: number): void {
    const count = (this.#held.get(holder) ?? 0) + delta
    if (count > 0) this.#held.set(holder, count)
    else this.#held.delete(holder)
    this.#size += delta
  }
}

/** One room for each key, which lasts while something is held in it. */
export class Rooms<Key, Holder> {
  readonly #limits: RoomLimits
  readonly #rooms = new Map<Key, Room<Holder>>()

  constructor(limits: RoomLimits) {
    this.#limits = limits
  }

  /** Rooms in which something is held. */
  get size(): number {
    return this.#rooms.size
  }

  /** @returns undefined when the holder may have one more */
  refusalOf(key: Key, holder: Holder): RoomRefusal | undefined {
    return (this.#rooms.get(key) ?? new Room<Holder>(this.#limits)).refusalOf(holder)
  }

  /** @returns a function that gives it back, to be called once */
  take(key: Key, holder: Holder): () => void {
    const room = this.#rooms.get(key) ?? new Room<Holder>(this.#limits)
    this.#rooms.set(key, room)
    const giveBack = room.take(holder)
    return () => {
      giveBack()
      if (room.size === 0) this.#rooms.delete(key)
    }
  }
}
