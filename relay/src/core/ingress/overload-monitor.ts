// Measures whether the process is overloaded: how much its own work delays its timers, and how full its heap is.

import { getHeapStatistics } from 'node:v8'

/** Interval at which the relay measures its delay and its heap. */
const OVERLOAD_SAMPLE_MS = 100
/** Smoothed delay of the event loop beyond which the relay is overloaded and closes new connections. */
const OVERLOAD_DELAY_MS = 250
/** Share of the heap limit beyond which the relay is overloaded. */
const OVERLOAD_HEAP_SHARE = 0.8

/** Weight of the newest sample in the smoothed delay: one late turn is no overload, a second of late turns is. */
const WEIGHT = 0.2
/** Largest delay that a sample counts, since a machine that slept is not overloaded. */
const DELAY_MAX_MS = 1000
const US_PER_MS = 1000

export class OverloadMonitor {
  readonly #timer: NodeJS.Timeout
  #sampledAt: number = performance.now()
  #cpuUs: number = cpuUs()
  #delayMs = 0
  #heapUse = 0

  constructor() {
    this.#timer = setInterval(() => this.#sample(), OVERLOAD_SAMPLE_MS).unref()
  }

  get isOverloaded(): boolean {
    return this.#delayMs > OVERLOAD_DELAY_MS || this.#heapUse > OVERLOAD_HEAP_SHARE
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #sample(): void {
    const now = performance.now()
    const lateMs = Math.max(0, now - this.#sampledAt - OVERLOAD_SAMPLE_MS)
    this.#sampledAt = now
    const cpuBeforeUs = this.#cpuUs
    this.#cpuUs = cpuUs()
    // If other programs use the processor, refusing connections would not reduce the delay.
    const workedMs = (this.#cpuUs - cpuBeforeUs) / US_PER_MS
    const delayMs = Math.min(DELAY_MAX_MS, lateMs, workedMs)
    this.#delayMs += WEIGHT * (delayMs - this.#delayMs)
    const { used_heap_size, external_memory, heap_size_limit } = getHeapStatistics()
    this.#heapUse = (used_heap_size + external_memory) / heap_size_limit
  }
}

/** Processor time of this thread, in microseconds. */
function cpuUs(): number {
  const { user, system } = process.threadCpuUsage()
  return user + system
}
