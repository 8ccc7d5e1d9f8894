// Caches signatures of arbitrary names in bounded memory.

export interface KeptSignature {
  /** RDATA of the RRSIG. */
  data: Buffer
  /** The signed record set, packed. */
  content: string
  madeAt: number
}

/**
 * A signature that is used a second time moves from the first map to the second one. Names that are queried once, as in a
 * flood, evict only each other.
 */
export class KeptSignatures {
  readonly #once: TwoHalves
  readonly #again: TwoHalves

  /** @param max the most signatures in each half of both maps */
  constructor(max: number) {
    this.#once = new TwoHalves(max)
    this.#again = new TwoHalves(max)
  }

  get(key: string): KeptSignature | undefined {
    const again = this.#again.get(key)
    if (again !== undefined) return again
    const once = this.#once.take(key)
    if (once !== undefined) this.#again.set(key, once)
    return once
  }

  /** Replaces the cached one in place. */
  set(key: string, kept: KeptSignature): void {
    const place = this.#again.get(key) === undefined ? this.#once : this.#again
    place.set(key, kept)
  }

  get size(): number {
    return this.#once.size + this.#again.size
  }
}

/** When the recent half is full, it becomes the older one, and the unused entries of the old one are dropped. */
class TwoHalves {
  readonly #max: number
  #recent: Map<string, KeptSignature> = new Map()
  #older: Map<string, KeptSignature> = new Map()

  constructor(max: number) {
    this.#max = max
  }

  get(key: string): KeptSignature | undefined {
    const recent = this.#recent.get(key)
    if (recent !== undefined) return recent
    const older = this.#older.get(key)
    if (older !== undefined) this.set(key, older)
    return older
  }

  take(key: string): KeptSignature | undefined {
    const found = this.#recent.get(key) ?? this.#older.get(key)
    this.#recent.delete(key)
    this.#older.delete(key)
    return found
  }

  set(key: string, kept: KeptSignature): void {
    this.#older.delete(key)
    if (this.#recent.size >= this.#max && !this.#recent.has(key)) {
      this.#older = this.#recent
      this.#recent = new Map()
    }
    this.#recent.set(key, kept)
  }

  get size(): number {
    return this.#recent.size + this.#older.size
  }
}
