// A map that forgets the entry that was used longest ago when it is full.

export class RecentMap<V> {
  readonly #max: number
  readonly #entries = new Map<string, V>()

  constructor(max: number) {
    this.#max = max
  }

  /** @param make returns the value of a missing entry, which is then added */
  get(key: string, make: () => V): V
  get(key: string): V | undefined
  get(key: string, make?: () => V): V | undefined {
    const value = this.#entries.get(key) ?? make?.()
    if (value !== undefined) this.set(key, value)
    return value
  }

  set(key: string, value: V): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    const [oldest] = this.#entries.keys()
    if (this.#entries.size > this.#max && oldest !== undefined) this.#entries.delete(oldest)
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }
}
