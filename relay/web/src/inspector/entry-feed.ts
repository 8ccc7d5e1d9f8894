// Follows the list of an inspector: the newest entries first, and then each change.

import { Store } from '../common/store.ts'
import type { InspectorSource } from './source.ts'
import type { EntryList, EntrySummary, InspectorState, ListQuery } from './types.ts'

/** The most rows. */
const ENTRIES_MAX = 1_000
/** The least time between two questions, in milliseconds: many changes are one answer. */
const BETWEEN_MS = 250
/** The time before the next attempt, in milliseconds. */
const RETRY_MS = 1_500

export interface Feed {
  /** Newest first. */
  entries: readonly EntrySummary[]
  /** Undefined until the first answer. */
  state: InspectorState | undefined
  /** Why the list is old; undefined when it is not. */
  error: Error | undefined
}

const EMPTY: Feed = { entries: [], state: undefined, error: undefined }

/** Resolves after a time, or when the signal is aborted. */
type Pause = (ms: number, signal: AbortSignal) => Promise<void>

export class EntryFeed {
  readonly feed: Store<Feed> = new Store<Feed>(EMPTY)
  readonly #source: InspectorSource
  readonly #pause: Pause
  #following = new AbortController()

  constructor(source: InspectorSource, pause: Pause = pauseInTab) {
    this.#source = source
    this.#pause = pause
  }

  /** Follows the entries that fit the query, and no others. */
  follow(query: ListQuery): void {
    this.stop()
    this.#following = new AbortController()
    void this.#run(query, this.#following.signal)
  }

  stop(): void {
    this.#following.abort()
  }

  /** Shows a state that an answer brought earlier than the list. */
  told(state: InspectorState): void {
    this.feed.set({ ...this.feed.value, state })
  }

  async #run(query: ListQuery, signal: AbortSignal): Promise<void> {
    let after: string | undefined
    while (!signal.aborted) {
      try {
        const list = await this.#source.list({ ...query, ...(after !== undefined && { after }) }, signal)
        if (signal.aborted) return
        const known = after === undefined ? [] : this.feed.value.entries
        after = list.cursor
        this.feed.set({ entries: merged(known, list), state: list.state, error: undefined })
        await this.#pause(BETWEEN_MS, signal)
      } catch (error) {
        if (signal.aborted) return
        this.feed.set({ ...this.feed.value, error: error as Error })
        await this.#pause(RETRY_MS, signal)
      }
    }
  }
}

/** @param known newest first */
export function merged(
  known: readonly EntrySummary[],
  { entries, removed, reset }: Pick<EntryList, 'entries' | 'removed' | 'reset'>,
): readonly EntrySummary[] {
  const all = new Map(reset ? [] : known.map((entry) => [entry.id, entry]))
  for (const id of removed) all.delete(id)
  const before = all.size
  for (const entry of entries) all.set(entry.id, entry)
  const result = [...all.values()]
  // Entries of the same millisecond stay in their order: the later one is first.
  if (all.size > before) {
    const added = result.splice(before).reverse()
    result.unshift(...added)
    result.sort((one, other) => other.at - one.at)
  }
  return result.slice(0, ENTRIES_MAX)
}

/** Also waits while the tab is hidden. */
async function pauseInTab(ms: number, signal: AbortSignal): Promise<void> {
  const passed = Promise.withResolvers<void>()
  const timer = setTimeout(passed.resolve, ms)
  signal.addEventListener(
    'abort',
    () => {
      clearTimeout(timer)
      passed.resolve()
    },
    { once: true },
  )
  await passed.promise
  if (!document.hidden || signal.aborted) return
  const shown = Promise.withResolvers<void>()
  document.addEventListener('visibilitychange', () => shown.resolve(), { once: true, signal })
  signal.addEventListener('abort', () => shown.resolve(), { once: true })
  await shown.promise
}
