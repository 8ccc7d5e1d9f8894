// Counts what leases or owners hold of a limited resource of the relay, and gives each no more than its share.

export interface QuotaLimits {
  /** Limit of all holders. */
  max: number
  /** Limit of one holder, while at most half is held. */
  perHolder: number
  /** Limit of one holder beyond that, so that a few holders do not take everything. */
  perHolderWhenHalfFull: number
}

/** The reasons for which a holder gets no more. */
export type QuotaRefusal = 'full' | 'holder_full'

export class Quota<Holder> {
  readonly #limits: QuotaLimits
  readonly #held = new Map<Holder, number>()
  #size = 0

  constructor(limits: QuotaLimits) {
    this.#limits = limits
  }

  /** The total that all hold. */
  get size(): number {
    return this.#size
  }

  /** @returns undefined when the holder may have one more */
  refusalOf(holder: Holder): QuotaRefusal | undefined {
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

/** One quota for each key, kept while something is held in it. */
export class Quotas<Key, Holder> {
  readonly #limits: QuotaLimits
  readonly #quotas = new Map<Key, Quota<Holder>>()

  constructor(limits: QuotaLimits) {
    this.#limits = limits
  }

  /** Quotas in which something is held. */
  get size(): number {
    return this.#quotas.size
  }

  /** @returns undefined when the holder may have one more */
  refusalOf(key: Key, holder: Holder): QuotaRefusal | undefined {
    return (this.#quotas.get(key) ?? new Quota<Holder>(this.#limits)).refusalOf(holder)
  }

  /** @returns a function that gives it back, to be called once */
  take(key: Key, holder: Holder): () => void {
    const room = this.#quotas.get(key) ?? new Quota<Holder>(this.#limits)
    this.#quotas.set(key, room)
    const giveBack = room.take(holder)
    return () => {
      giveBack()
      if (room.size === 0) this.#quotas.delete(key)
    }
  }
}
