// What the visitor may send before it is told that it may send more (RFC 9113 §5.2): the bound on what waits unread.

export class ReceiveWindow {
  #size: number
  readonly #maxSize: number
  #left: number
  /** What was read and is not given back yet. */
  #consumed = 0

  constructor(size: number, maxSize: number) {
    this.#size = size
    this.#maxSize = maxSize
    this.#left = size
  }

  /** @returns whether `bytes` were allowed to come */
  take(bytes: number): boolean {
    this.#left -= bytes
    return this.#left >= 0
  }

  /**
   * Half a window at a time, so that WINDOW_UPDATEs are few. A reader that had to wait for these bytes is faster than
   * the window lets the visitor be, so that doubles, up to its maximum: a slow reader never gets more than the first.
   * @returns the increment to tell the visitor; 0 when there is none yet
   */
  give(bytes: number, hasWaited: boolean): number {
    this.#consumed += bytes
    if (this.#consumed < this.#size / 2) return 0
    const growth = hasWaited ? Math.min(this.#size, this.#maxSize - this.#size) : 0
    const increment = this.#consumed + growth
    this.#size += growth
    this.#left += increment
    this.#consumed = 0
    return increment
  }
}
