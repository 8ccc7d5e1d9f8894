// A value that outlives the page that shows it: what is published goes on while its visitor looks at other pages.
import { useEffect, useState } from '../preact.ts'

export class Store<T> {
  #value: T
  readonly #listeners = new Set<() => void>()

  constructor(value: T) {
    this.#value = value
  }

  get value(): T {
    return this.#value
  }

  set(value: T): void {
    this.#value = value
    for (const listener of this.#listeners) listener()
  }

  /** @returns takes it back */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

/** The store's value, now and whenever it changes. */
export function useStore<T>(store: Store<T>): T {
  const [, redraw] = useState(0)
  useEffect(() => store.subscribe(() => redraw((count) => count + 1)), [store])
  return store.value
}
