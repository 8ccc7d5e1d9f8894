// Relays that somebody named and this relay has not checked yet: a bounded queue in which each source has an equal
// share.

import { GcraLimiter } from '@svc/node-kit/gcra'
import type { ReadDescriptor } from './descriptor-rules.ts'
import { DISCOVERY_LIMITS, LOOK_RATE, LOOKS_PARALLEL_MAX, LOOKS_PER_SOURCE_MAX } from './limits.ts'
import type { RecentLookups } from './recent-lookups.ts'

export interface Candidate {
  read: ReadDescriptor
  /** True when the signature has already been verified. */
  isGenuine: boolean
  /** What named it: the network of an announcement, or the origin of a relay. */
  source: string
}

interface Source {
  /** By origin, in the order of their turns. */
  waiting: Map<string, Candidate>
  running: number
}

export interface CandidatesParts {
  /** Checks one candidate. Never rejects. */
  look: (candidate: Candidate) => Promise<void>
  times: RecentLookups
  /** Limit of candidates that wait or are being checked. @default `DISCOVERY_LIMITS.candidatesMax` */
  max?: number
}

export class Candidates {
  readonly #parts: CandidatesParts
  readonly #max: number
  /** Sources with candidates, in the order of their turns. */
  readonly #sources = new Map<string, Source>()
  /** Origin that waits or is being checked → the source whose turn it takes. */
  readonly #held = new Map<string, string>()
  readonly #rate = new GcraLimiter(1, LOOK_RATE)
  #running = 0
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(parts: CandidatesParts) {
    this.#parts = parts
    this.#max = parts.max ?? DISCOVERY_LIMITS.candidatesMax
  }

  /** Number of candidates that wait or are being checked. */
  get size(): number {
    return this.#held.size
  }

  /** Returns whether an offer from `source` would change nothing, whatever the descriptor. */
  isIdle(origin: string, source: string): boolean {
    return this.#isClosed || this.#parts.times.isRecent(origin) || !this.#isWanted(origin, source)
  }

  /**
   * Adds a candidate, unless its origin was checked recently, or already waits for an earlier turn than this source
   * has.
   * @returns false when there is no room for it
   */
  offer(candidate: Candidate): boolean {
    const { read, source: name } = candidate
    const { origin } = read
    if (this.isIdle(origin, name)) return true
    const own = this.#sources.get(name) ?? { waiting: new Map(), running: 0 }
    const holder = this.#held.get(origin)
    if (holder !== undefined) this.#withdraw(holder, origin)
    else if (this.#held.size >= this.#max && !this.#makeRoom(own.waiting.size + 1)) return false
    this.#held.set(origin, name)
    this.#sources.set(name, own)
    own.waiting.set(origin, candidate)
    this.#pump()
    return true
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#sources.clear()
    this.#held.clear()
  }

  /**
   * A waiting candidate moves to a source with fewer of them: otherwise the first to name a relay, after slow ones of
   * its own, could delay it.
   */
  #isWanted(origin: string, source: string): boolean {
    const holder = this.#held.get(origin)
    if (holder === undefined) return true
    const waiting = this.#sources.get(holder)?.waiting
    return waiting?.has(origin) === true && (this.#sources.get(source)?.waiting.size ?? 0) + 1 < waiting.size
  }

  /** Drops the last candidate of the source with the most, if that has more than the newcomer's source would have. */
  #makeRoom(wanted: number): boolean {
    let largest: Map<string, Candidate> | undefined
    let name = ''
    for (const [key, { waiting }] of this.#sources)
      if (waiting.size > (largest?.size ?? 0)) [largest, name] = [waiting, key]
    if (largest === undefined || largest.size <= wanted) return false
    const last = [...largest.keys()].at(-1)!
    this.#withdraw(name, last)
    return true
  }

  #withdraw(name: string, origin: string): void {
    const source = this.#sources.get(name)!
    source.waiting.delete(origin)
    this.#held.delete(origin)
    if (source.waiting.size === 0 && source.running === 0) this.#sources.delete(name)
  }

  #pump(): void {
    clearTimeout(this.#timer)
    while (this.#running < LOOKS_PARALLEL_MAX) {
      const candidate = this.#peek()
      if (candidate === undefined) return
      const waitMs = this.#rate.waitMs(0, 1, performance.now())
      if (waitMs > 0) {
        this.#timer = setTimeout(() => this.#pump(), waitMs).unref()
        return
      }
      this.#rate.spend(0, 1, performance.now())
      void this.#look(candidate)
    }
  }

  /**
   * The first candidate of the source whose turn it is. Drops those that were checked in the meantime for another
   * reason.
   */
  #peek(): Candidate | undefined {
    for (const [name, { waiting, running }] of this.#sources) {
      if (running >= LOOKS_PER_SOURCE_MAX) continue
      for (const [origin, candidate] of waiting) {
        if (!this.#parts.times.isRecent(origin)) return candidate
        this.#withdraw(name, origin)
      }
    }
    return undefined
  }

  async #look(candidate: Candidate): Promise<void> {
    const { source: name, read } = candidate
    const source = this.#sources.get(name)!
    source.waiting.delete(read.origin)
    source.running += 1
    this.#running += 1
    // The next turn of this source comes after all others.
    this.#sources.delete(name)
    this.#sources.set(name, source)
    await this.#parts.look(candidate)
    this.#held.delete(read.origin)
    source.running -= 1
    this.#running -= 1
    if (source.waiting.size === 0 && source.running === 0) this.#sources.delete(name)
    if (!this.#isClosed) this.#pump()
  }
}
