// The guestbook itself: a bounded list, and who wants to know when it changes.
import { cleanText } from '../shared/clean-text.ts'

/** Entries that are kept; the oldest go. */
const ENTRIES_MAX = 100
export const NAME_MAX_CHARS = 40
export const TEXT_MAX_CHARS = 280

export interface Entry {
  id: number
  name: string
  text: string
  /** Milliseconds since 1970. */
  at: number
}

export class Guestbook {
  #entries: readonly Entry[] = []
  #lastId = 0
  readonly #followers: Set<() => void> = new Set()

  /** The newest first. */
  get entries(): readonly Entry[] {
    return this.#entries
  }

  /** @returns undefined when one of the two is empty or too long */
  add(name: string, text: string): Entry | undefined {
    const [cleanName, clean] = [cleanText(name), cleanText(text)]
    if (cleanName === '' || cleanName.length > NAME_MAX_CHARS) return undefined
    if (clean === '' || clean.length > TEXT_MAX_CHARS) return undefined
    this.#lastId += 1
    const entry = { id: this.#lastId, name: cleanName, text: clean, at: Date.now() }
    this.#change([entry, ...this.#entries].slice(0, ENTRIES_MAX))
    return entry
  }

  remove(id: number): void {
    this.#change(this.#entries.filter((entry) => entry.id !== id))
  }

  /** @returns ends it */
  follow(changed: () => void): () => void {
    this.#followers.add(changed)
    return () => this.#followers.delete(changed)
  }

  #change(entries: readonly Entry[]): void {
    this.#entries = entries
    for (const changed of this.#followers) changed()
  }
}
