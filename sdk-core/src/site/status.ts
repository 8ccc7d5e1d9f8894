// The state of a site and why it waits. Each change is reported once; `closed` is final.

import type { SiteState } from './site.ts'
import { isSameWaiting, type Waiting } from './waiting-reason.ts'

export class SiteStatus {
  #changed: () => void
  #state: SiteState = 'connecting'
  #waiting: Waiting | undefined

  /** @param changed called after each change */
  constructor(changed: () => void) {
    this.#changed = changed
  }

  get state(): SiteState {
    return this.#state
  }

  /** The reason for waiting. Undefined unless the state is `waiting`. */
  get waiting(): Waiting | undefined {
    return this.#waiting
  }

  set(state: Exclude<SiteState, 'waiting'>): void {
    this.#become(state, undefined)
  }

  wait(waiting: Waiting): void {
    this.#become('waiting', waiting)
  }

  #become(state: SiteState, waiting: Waiting | undefined): void {
    if (this.#state === 'closed') return
    if (state === this.#state && isSameWaiting(waiting, this.#waiting)) return
    this.#state = state
    this.#waiting = waiting
    this.#changed()
  }
}
