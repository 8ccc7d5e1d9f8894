// Bounds what the visitor may send before the SDK gives it more credit (RFC 9113 §5.2), and so what waits unread.

export class ReceiveWindow {
  #size: number
  readonly #maxSize: number
  #left: number
  /** The bytes that were read and not given back yet. */
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
   * Gives credit back, half a window at a time, so that WINDOW_UPDATEs are few. When the reader had to wait for these
   * bytes, it is faster than the window allows, and the window doubles, up to its maximum. A slow reader keeps the
   * first window.
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
   * Gives all credit back that there is.
   * @returns the increment to send; 0 when there is none
   */
  giveAll(): number {
    const increment = this.#consumed
    this.#left += increment
    this.#consumed = 0
    return increment
  }
}
