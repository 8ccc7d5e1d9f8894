// Whether the process keeps up: how late its timers are, and how full its heap is.

import { getHeapStatistics } from 'node:v8'
import { HEAP_STRAIN, STRAIN_DELAY_MS, STRAIN_LOOK_MS } from '../limits.ts'

/** Of the smoothed delay, what the last look counts for: one long turn is no strain, a second of them is. */
const WEIGHT = 0.2
/** No single look counts for more, for a machine that slept is not strained. */
const DELAY_MAX_MS = 1000

export class Strain {
  readonly #timer: NodeJS.Timeout
  #lookedAt: number = performance.now()
  #delayMs = 0
  #heapUse = 0

  constructor() {
    this.#timer = setInterval(() => this.#look(), STRAIN_LOOK_MS).unref()
  }

  get isOver(): boolean {
    return this.#delayMs > STRAIN_DELAY_MS || this.#heapUse > HEAP_STRAIN
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const now = performance.now()
    const delayMs = Math.min(DELAY_MAX_MS, Math.max(0, now - this.#lookedAt - STRAIN_LOOK_MS))
    this.#lookedAt = now
    this.#delayMs += WEIGHT * (delayMs - this.#delayMs)
    const { used_heap_size, external_memory, heap_size_limit } = getHeapStatistics()
    this.#heapUse = (used_heap_size + external_memory) / heap_size_limit
  }
}
