// One relay of a site at several relays: how long the site has been offline there, and how long it may be.

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
  /** True once `publish` has resolved. */
  isTaken = false
  wasOnline = false
  /** Aborted when the site must leave the relay. */
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

  /** Copies the state of the site. @returns whether it came online or went offline */
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

  /** How long the site has been online, or was at the end, in milliseconds. */
  get onlineMs(): number {
    return this.#isOnline ? performance.now() - this.#since : this.#onlineMs
  }

  /** The time of `performance.now()` at which the site came online, or went offline. */
  get since(): number {
    return this.#since
  }

  /** Restarts the wait, because the time while the page was away does not count. */
  restart(): void {
    this.#since = performance.now()
  }

  /** The time of `performance.now()` until which the SDK does not replace the relay. */
  get patientUntil(): number {
    return this.#since + this.#patienceMs
  }

  /** The time of `performance.now()` at which the SDK gives up a relay that never brought the site online. */
  get givenUpAt(): number {
    if (this.wasOnline) return Number.POSITIVE_INFINITY
    return this.#isWaiting ? this.patientUntil : this.#since + TAKE_DEADLINE_MS
  }

  get #isWaiting(): boolean {
    return this.site?.state === 'waiting'
  }

  get #patienceMs(): number {
    // The operator refuses the site, or has not approved it: waiting does not help.
    if (this.error?.code === 'lease_rejected' || this.site?.waiting?.reason === 'approval') return 0
    if (this.site?.waiting?.reason === 'certificate') return CERTIFICATE_PATIENCE_MS
    return this.wasOnline || this.#isWaiting ? REPLACE_AFTER_MS : TAKE_PATIENCE_MS
  }
}
