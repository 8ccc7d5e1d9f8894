// Holds a value outside the components, so that a published site stays online while its owner looks at other pages.
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

  /** @returns a function that removes the listener */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

/** Returns the store's value, and renders again when it changes. */
export function useStore<T>(store: Store<T>): T {
  const [, redraw] = useState(0)
  const { value } = store
  useEffect(() => {
    const again = (): void => redraw((count) => count + 1)
    // The value may have changed since the render.
    if (store.value !== value) again()
    return store.subscribe(again)
  }, [store])
  return value
}
