// One relay of a site that is at several: how long it has been without visitors, and how long it may be.

import type { SvcError } from '../errors.ts'
import type { Site } from '../site/site.ts'
import { CERTIFICATE_PATIENCE_MS, REPLACE_AFTER_MS, TAKE_DEADLINE_MS, TAKE_PATIENCE_MS } from './limits.ts'

export class Member<S extends Site> {
  readonly relay: URL
  /** True for a relay that the caller named: it is never replaced. */
  readonly isExplicit: boolean
  /** Undefined until the SDK has made the site. */
  site: S | undefined
  /** The last error of the site since it was online. */
  error: SvcError | undefined
  /** True from the moment on that `publish` has resolved. */
  isTaken = false
  wasOnline = false
  /** Aborted when the site is to leave the relay. */
  readonly leaving: AbortController = new AbortController()
  #isOnline = false
  #since: number = performance.now()
  /** The milliseconds for which the site was online, before the current state. */
  #onlineMs = 0

  constructor(relay: URL, isExplicit: boolean) {
    this.relay = relay
    this.isExplicit = isExplicit
  }

  get isOnline(): boolean {
    return this.#isOnline
  }

  /** Takes over the state of the site. @returns whether visitors can come since then, or can no more */
  update(): boolean {
    const isOnline = this.site?.state === 'online'
    if (isOnline === this.#isOnline) return false
    this.#onlineMs = this.#isOnline ? performance.now() - this.#since : 0
    this.#isOnline = isOnline
    this.#since = performance.now()
    if (isOnline) {
      this.wasOnline = true
      this.error = undefined
    }
    return true
  }

  /** The milliseconds for which the site is online, or was at the end. */
  get onlineMs(): number {
    return this.#isOnline ? performance.now() - this.#since : this.#onlineMs
  }

  /** The time of `performance.now()` at which the site came online, or went offline. */
  get since(): number {
    return this.#since
  }

  /** Begins the wait anew: the page was away, and the time meanwhile does not count. */
  restart(): void {
    this.#since = performance.now()
  }

  /** The time of `performance.now()` until which nobody looks for another relay in its place. */
  get patientUntil(): number {
    return this.#since + this.#patienceMs
  }

  /** The time of `performance.now()` at which an attempt ends that never brought the site online. */
  get givenUpAt(): number {
    if (this.wasOnline) return Number.POSITIVE_INFINITY
    return this.#isWaiting ? this.patientUntil : this.#since + TAKE_DEADLINE_MS
  }

  get #isWaiting(): boolean {
    return this.site?.state === 'waiting'
  }

  get #patienceMs(): number {
    // The operator does not let the site's visitors in, or not yet: no time changes that.
    if (this.error?.code === 'lease_rejected' || this.site?.waiting?.reason === 'approval') return 0
    if (this.site?.waiting?.reason === 'certificate') return CERTIFICATE_PATIENCE_MS
    return this.wasOnline || this.#isWaiting ? REPLACE_AFTER_MS : TAKE_PATIENCE_MS
  }
}
