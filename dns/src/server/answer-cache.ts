// Caches encoded answers until the zone changes, so that each costs only a lookup.

import { CACHED_ANSWERS_MAX, CACHED_ANSWERS_MAX_AGE_MS, CACHED_ANSWERS_MAX_BYTES } from './limits.ts'
import type { Sections } from './message-writer.ts'

export interface AnswerCacheOptions {
  max?: { answers: number; bytes: number; ageMs: number }
  /** A monotonic clock, in milliseconds. */
  now?: () => number
}

const MAX = {
  answers: CACHED_ANSWERS_MAX,
  bytes: CACHED_ANSWERS_MAX_BYTES,
  ageMs: CACHED_ANSWERS_MAX_AGE_MS,
}
/** The overhead of an entry, in bytes, besides its content and key. */
const ENTRY_BYTES = 300

/**
 * The cache has two generations. A lookup moves an answer from the old one to the new one; when the new one is full, it
 * becomes the old one, and unused answers are dropped. So a flood of names that are queried once evicts
 * no popular answer.
 */
export class AnswerCache {
  readonly #max: typeof MAX
  readonly #now: () => number
  #current = new Map<string, Sections>()
  #previous = new Map<string, Sections>()
  #currentBytes = 0
  #previousBytes = 0
  #since: number
  #version = -1

  constructor({ max = MAX, now = () => performance.now() }: AnswerCacheOptions = {}) {
    this.#max = max
    this.#now = now
    this.#since = now()
  }

  /** @param version the version of the zone: answers of another one are dropped */
  get(key: string, version: number): Sections | undefined {
    if (version !== this.#version || this.#now() - this.#since > this.#max.ageMs) this.#clear(version)
    const found = this.#current.get(key)
    if (found !== undefined) return found
    const old = this.#previous.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  /** Stores an answer for the version of the last `get`. */
  set(key: string, sections: Sections): void {
    const bytes = sections.bytes.length + 2 * key.length + ENTRY_BYTES
    const isFull =
      this.#current.size >= this.#max.answers / 2 || this.#currentBytes + bytes > this.#max.bytes / 2
    if (isFull) {
      this.#previous = this.#current
      this.#previousBytes = this.#currentBytes
      this.#current = new Map()
      this.#currentBytes = 0
    }
    this.#current.set(key, sections)
    this.#currentBytes += bytes
  }

  /** The number of answers, and their size in bytes. */
  get size(): { answers: number; bytes: number } {
    return {
      answers: this.#current.size + this.#previous.size,
      bytes: this.#currentBytes + this.#previousBytes,
    }
  }

  #clear(version: number): void {
    this.#current.clear()
    this.#previous.clear()
    this.#currentBytes = 0
    this.#previousBytes = 0
    this.#since = this.#now()
    this.#version = version
  }
}
