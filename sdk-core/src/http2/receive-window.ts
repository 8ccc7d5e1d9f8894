// The receive window of a stream or connection (RFC 9113 §5.2), which bounds unread data.

export class ReceiveWindow {
  #size: number
  readonly #maxSize: number
  #left: number
  /** The bytes that were read but not yet credited. */
  #consumed = 0

  constructor(size: number, maxSize: number) {
    this.#size = size
    this.#maxSize = maxSize
    this.#left = size
  }

  /** The bytes that the visitor may send now. */
  get left(): number {
    return this.#left
  }

  /** @returns whether the visitor was allowed to send `bytes` */
  take(bytes: number): boolean {
    this.#left -= bytes
    return this.#left >= 0
  }

  /**
   * Returns credit, half a window at a time, so that WINDOW_UPDATEs are few. When the reader had to wait for these
   * bytes, it is faster than the window allows, so the window doubles, up to its maximum. A slow reader keeps the
   * initial window.
   * @returns the increment to send; 0 when there is none yet
   */
  give(bytes: number, hasWaited: boolean): number {
    this.#consumed += bytes
    if (this.#consumed < this.#size / 2) return 0
    const growth = hasWaited ? Math.min(this.#size, this.#maxSize - this.#size) : 0
    this.#size += growth
    this.#left += growth
    return growth + this.giveAll()
  }

  /**
   * Returns all credit.
   * @returns the increment to send; 0 when there is none
   */
  giveAll(): number {
    const increment = this.#consumed
    this.#left += increment
    this.#consumed = 0
    return increment
  }
}
