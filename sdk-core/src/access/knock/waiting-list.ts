// The visitors who wait for an answer. There are few places, and each network has its share.

import { KnockLimiter } from './knock-limiter.ts'
import { NETWORK_WAITING_MAX, WAITING_MAX } from './limits.ts'
import { type Knocker, Place, type Verdict } from './place.ts'

const CODES = 10_000

/** What happens on a list. */
export interface ListEvents {
  /** A visitor waits who did not before. */
  knocked(place: Place): void
  /** The owner answered. */
  answered(knocker: Knocker, verdict: Verdict): void
}

export class WaitingList {
  readonly #events: ListEvents
  readonly #limiter = new KnockLimiter()
  /** The places by the hash of the ticket, oldest first. */
  readonly #places = new Map<string, Place>()
  #isClosed = false

  constructor(events: ListEvents) {
    this.#events = events
  }

  /** The visitors who wait, oldest first. */
  get places(): Place[] {
    return [...this.#places.values()]
  }

  /** Returns the place that this visitor has. */
  get(key: string): Place | undefined {
    return this.#places.get(key)
  }

  /** Gives a visitor a place. @returns undefined when there is none for it now */
  add(knocker: Knocker): Place | undefined {
    const left = this.#leftFor(knocker)
    if (this.#isClosed || left === 'none' || !this.#limiter.take(knocker)) return undefined
    left?.end()
    const place = new Place(knocker, this.#newCode(), (verdict) => {
      if (verdict.isAdmitted) this.#limiter.know(knocker.network)
      this.#events.answered(knocker, verdict)
    })
    this.#places.set(knocker.key, place)
    place.ended.addEventListener('abort', () => this.#places.delete(knocker.key))
    this.#events.knocked(place)
    return place
  }

  /** Ends all places, and gives no more. */
  close(): void {
    this.#isClosed = true
    for (const place of this.places) place.end()
  }

  /**
   * Returns whose place a visitor takes: nobody's, as long as its network and the list have room; otherwise that of the oldest of the
   * network, or of the wide network that has the most. Where each has one, nobody has to go.
   */
  #leftFor({ network, wide }: Knocker): Place | 'none' | undefined {
    const own = network === undefined ? [] : this.places.filter(({ knocker }) => knocker.network === network)
    if (own.length >= NETWORK_WAITING_MAX) return own[0]
    if (this.#places.size < WAITING_MAX) return undefined
    const counts = new Map([[wide, 1]])
    for (const { knocker } of this.places) counts.set(knocker.wide, (counts.get(knocker.wide) ?? 0) + 1)
    const most = Math.max(...counts.values())
    if (most < 2) return 'none'
    // The newcomer's own network first, when several have the most.
    const largest = counts.get(wide) === most ? wide : [...counts].find(([, count]) => count === most)![0]
    return this.places.find(({ knocker }) => knocker.wide === largest) ?? 'none'
  }

  #newCode(): string {
    const used = new Set(this.places.map(({ code }) => code))
    for (;;) {
      const [number = 0] = crypto.getRandomValues(new Uint16Array(1))
      const code = String(number % CODES).padStart(4, '0')
      if (!used.has(code)) return code
    }
  }
}
