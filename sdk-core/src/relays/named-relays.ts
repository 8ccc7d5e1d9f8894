// The relays that the caller named, and which of them have ended the site for good.

import type { SvcError } from '../errors.ts'

export class NamedRelays {
  readonly all: readonly URL[]
  #origins: readonly string[]
  #lost = new Map<string, SvcError>()

  /** @param all the relays, each origin once */
  constructor(all: readonly URL[]) {
    this.all = all
    this.#origins = all.map(({ origin }) => origin)
  }

  /** The relays that may still have the site. */
  get left(): URL[] {
    return this.all.filter(({ origin }) => !this.#lost.has(origin))
  }

  get lostCount(): number {
    return this.#lost.size
  }

  has(origin: string): boolean {
    return this.#origins.includes(origin)
  }

  /** Returns the index of a relay. Relays that were not named come last. */
  placeOf(origin: string): number {
    return this.has(origin) ? this.#origins.indexOf(origin) : this.#origins.length
  }

  /** Notes that a relay has ended the site for good. */
  lose(origin: string, error: SvcError): void {
    this.#lost.set(origin, error)
  }

  /** The error of the relay that was lost last. */
  get lastError(): SvcError | undefined {
    return [...this.#lost.values()].at(-1)
  }

  /** True when another process has taken the name over at every relay. */
  get isTakenOver(): boolean {
    return this.left.length === 0 && [...this.#lost.values()].every(({ code }) => code === 'lease_replaced')
  }
}
