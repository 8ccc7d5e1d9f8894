// Stores the round trips to the listed relays, and measures a few at once.
import { Store } from '../common/store.ts'
import type { ProbeAnswer } from './relay-probe.ts'

/** The most concurrent measurements: more would delay each other in a slow network. */
export const MEASUREMENTS_AT_ONCE_MAX = 4

/** Milliseconds, or why they are unknown. */
export type RoundTrip = number | 'silent' | 'unmeasured'

/** The part of a worker that is used. */
export interface Probe {
  postMessage(origin: string): void
  addEventListener(type: 'message', listener: (event: { data: ProbeAnswer }) => void): void
  addEventListener(type: 'error', listener: () => void): void
  terminate(): void
}

export class RoundTrips {
  /** By origin. A missing origin is not measured yet. */
  readonly results: Store<ReadonlyMap<string, RoundTrip>> = new Store<ReadonlyMap<string, RoundTrip>>(
    new Map(),
  )
  readonly #probe: Probe
  #wanted: readonly string[] = []
  readonly #running = new Set<string>()
  /** True when the browser could not load or run the probe. */
  #isBroken = false

  constructor(probe: Probe) {
    this.#probe = probe
    probe.addEventListener('message', ({ data }) => this.#take(data.origin, data.ms ?? 'silent'))
    probe.addEventListener('error', () => {
      this.#isBroken = true
      this.#next()
    })
  }

  /** Measures the origins without a result, in this order, and forgets all others. */
  measure(origins: readonly string[]): void {
    this.#wanted = origins
    const { value } = this.results
    const kept = new Map(
      origins.flatMap((origin) => (value.has(origin) ? [[origin, value.get(origin)!]] : [])),
    )
    if (kept.size < value.size) this.results.set(kept)
    this.#next()
  }

  /** Measures all of them again. */
  repeat(): void {
    this.results.set(new Map())
    this.#next()
  }

  close(): void {
    this.#probe.terminate()
  }

  #next(): void {
    if (this.#isBroken) {
      this.results.set(new Map(this.#wanted.map((origin) => [origin, 'unmeasured'])))
      return
    }
    for (const origin of this.#wanted) {
      if (this.#running.size >= MEASUREMENTS_AT_ONCE_MAX) return
      if (this.#running.has(origin) || this.results.value.has(origin)) continue
      this.#running.add(origin)
      this.#probe.postMessage(origin)
    }
  }

  #take(origin: string, result: RoundTrip): void {
    this.#running.delete(origin)
    // The origin may have left the list meanwhile.
    if (this.#wanted.includes(origin)) this.results.set(new Map(this.results.value).set(origin, result))
    this.#next()
  }
}
