// The errors of relays that did not accept a site or lost it: one for each relay, up to a limit.

import type { SvcError } from '../errors.ts'
import { FAILED_RELAYS_MAX } from './limits.ts'

/** A RelayFailure names a relay that does not have the site, or did not name others, and says why. */
export interface RelayFailure {
  relay: string
  error: SvcError
}

export class RelayFailures {
  #errors = new Map<string, SvcError>()
  #isNamed: (origin: string) => boolean

  /** @param isNamed returns whether the caller named a relay, whose error is then never forgotten */
  constructor(isNamed: (origin: string) => boolean) {
    this.#isNamed = isNamed
  }

  get list(): RelayFailure[] {
    return Array.from(this.#errors, ([relay, error]) => ({ relay, error }))
  }

  of(origin: string): SvcError | undefined {
    return this.#errors.get(origin)
  }

  keep(origin: string, error: SvcError): void {
    this.#errors.delete(origin)
    this.#errors.set(origin, error)
    const others = [...this.#errors.keys()].filter((each) => !this.#isNamed(each))
    if (others.length > FAILED_RELAYS_MAX) this.#errors.delete(others[0]!)
  }

  delete(origin: string): void {
    this.#errors.delete(origin)
  }
}
