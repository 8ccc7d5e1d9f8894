// Counts the bytes of the disk that the static cache uses, and those that it is about to use.

export class ByteBudget {
  /** Bytes that may be used at most. */
  readonly limit: number
  #used = 0

  constructor(limit: number) {
    this.limit = limit
  }

  /** Bytes of all reservations. */
  get used(): number {
    return this.#used
  }

  /** @returns undefined when there is no room for this many bytes */
  reserve(bytes: number): Reservation | undefined {
    const reservation = new Reservation((change) => this.#change(change))
    return reservation.add(bytes) ? reservation : undefined
  }

  /** @returns whether there is room; giving back always succeeds */
  #change(bytes: number): boolean {
    if (bytes > 0 && this.#used + bytes > this.limit) return false
    this.#used += bytes
    return true
  }
}

/** A part of a budget, which can grow and shrink until it is released. */
export class Reservation {
  readonly #change: (bytes: number) => boolean
  #bytes = 0
  #isReleased = false

  /** @param change adds to what the budget counts as used, if there is room */
  constructor(change: (bytes: number) => boolean) {
    this.#change = change
  }

  get bytes(): number {
    return this.#bytes
  }

  /** @returns false, and nothing changes, when there is no room, or the reservation is released */
  add(bytes: number): boolean {
    if (this.#isReleased || !this.#change(bytes)) return false
    this.#bytes += bytes
    return true
  }

  giveBack(bytes: number): void {
    if (this.#isReleased) return
    this.#change(-bytes)
    this.#bytes -= bytes
  }

  release(): void {
    this.giveBack(this.#bytes)
    this.#isReleased = true
  }
}
