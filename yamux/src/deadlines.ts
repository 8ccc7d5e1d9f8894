// Keeps deadlines of one fixed length for many items, on one timer.

export class Deadlines<T> {
  readonly #lengthMs: number
  readonly #onExpired: (item: T) => void
  /** The time at which each item expires. All lengths are equal, so insertion order is time order. */
  readonly #due = new Map<T, number>()
  #timer: ReturnType<typeof setTimeout> | undefined

  /**
   * @param lengthMs the length in milliseconds; 0 means no deadlines
   * @param onExpired called with each item that expired
   */
  constructor(lengthMs: number, onExpired: (item: T) => void) {
    this.#lengthMs = lengthMs
    this.#onExpired = onExpired
  }

  /** Sets the item's deadline, or moves it. */
  set(item: T): void {
    if (this.#lengthMs === 0) return
    this.#due.delete(item)
    this.#due.set(item, performance.now() + this.#lengthMs)
    this.#arm()
  }

  delete(item: T): void {
    this.#due.delete(item)
    if (this.#due.size === 0) this.#disarm()
  }

  clear(): void {
    this.#due.clear()
    this.#disarm()
  }

  #disarm(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /**
   * Sets the timer for the current first item. If that is removed, the timer finds nothing expired, and is set for the
   * next.
   */
  #arm(): void {
    if (this.#timer !== undefined) return
    const [first] = this.#due.values()
    if (first === undefined) return
    this.#timer = setTimeout(() => this.#sweep(), first - performance.now())
  }

  #sweep(): void {
    this.#timer = undefined
    const now = performance.now()
    for (const [item, due] of this.#due) {
      if (due > now) break
      this.#due.delete(item)
      this.#onExpired(item)
    }
    this.#arm()
  }
}
