// Limits the bandwidth that all connections of one identity share, in both directions together.

/** Time for which unused bandwidth accumulates. */
const BURST_MS = 1000

export class Bandwidth {
  readonly #bytesPerSecond: () => number
  /** When the bytes sent so far are paid for at the rate, in milliseconds of the monotonic clock. */
  #paidAt = 0

  /** @param bytesPerSecond called at each use, so that a new limit holds for open connections, too; 0 means unlimited */
  constructor(bytesPerSecond: () => number) {
    this.#bytesPerSecond = bytesPerSecond
  }

  get isLimited(): boolean {
    return this.#bytesPerSecond() !== 0
  }

  /**
   * Counts bytes that were sent. Senders wait in the order of the calls, so that no connection starves another.
   * @returns milliseconds that the sender has to wait before it sends more
   */
  spend(bytes: number): number {
    const rate = this.#bytesPerSecond()
    if (rate === 0) return 0
    const now = performance.now()
    this.#paidAt = Math.max(this.#paidAt, now - BURST_MS) + (bytes / rate) * 1000
    return Math.max(0, this.#paidAt - now)
  }

  /** Refunds bytes that were spent in advance but not sent: the next ones wait less. */
  giveBack(bytes: number): void {
    const rate = this.#bytesPerSecond()
    if (rate > 0) this.#paidAt -= (bytes / rate) * 1000
  }

  /** Spends bytes that cannot wait, such as a datagram's. @returns false, and spends nothing, while earlier bytes are unpaid */
  trySpend(bytes: number): boolean {
    if (this.spend(0) > 0) return false
    this.spend(bytes)
    return true
  }
}
