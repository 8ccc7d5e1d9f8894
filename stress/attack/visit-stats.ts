// Answers and failures of one kind of visit, and how long the answers took.

/** Share of the answers that took no longer. */
const MEDIAN = 0.5
const TAIL = 0.99

export interface VisitStats {
  answers: number
  failures: number
  /** Milliseconds; NaN without an answer. */
  p50: number
  p99: number
  /** The reason for the first failure. */
  reason?: string
}

export class VisitCounter {
  readonly #times: number[] = []
  #failures = 0
  #reason: string | undefined

  answered(ms: number): void {
    this.#times.push(ms)
  }

  failed(reason: string): void {
    this.#failures += 1
    this.#reason ??= reason
  }

  get figures(): VisitStats {
    const sorted = this.#times.toSorted((a, b) => a - b)
    const quantile = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
    return {
      answers: sorted.length,
      failures: this.#failures,
      p50: quantile(MEDIAN),
      p99: quantile(TAIL),
      ...(this.#reason !== undefined && { reason: this.#reason }),
    }
  }
}
