// Dispatches the events of a site, and calls the option `debug`.

import type { CacheStatus } from '../cache/cache-options.ts'
import { messageOf, type SvcError } from '../errors.ts'
import type { DebugEvent } from './debug-event.ts'
import { SiteErrorEvent, SitePressureEvent } from './site.ts'
import type { SiteStatus } from './status.ts'

/** Errors that do not change the state of the site. */
const UNSEEN = /^(handler|visitor)_failed$/

export class SiteEvents {
  /**
   * Calls the option `debug`. An error that it throws is reported like that of an event listener, and does not reach the
   * site.
   */
  readonly debug: (event: DebugEvent) => void
  #target: EventTarget
  /** An error to dispatch once the caller of `publish` has had time to add listeners. */
  #held: SvcError | undefined
  #urls: readonly string[] = []
  #logged = ''

  constructor(target: EventTarget, debug: ((event: DebugEvent) => void) | undefined) {
    this.#target = target
    this.debug = (event) => queueMicrotask(() => debug?.(event))
  }

  state({ state, waiting }: SiteStatus): void {
    this.debug({ type: 'state', state, waiting })
    if (state === 'online') this.releaseError()
    this.#target.dispatchEvent(new Event('statechange'))
  }

  /** @param urls the URLs at which visitors can connect now */
  urls(urls: readonly string[]): void {
    const before = this.#urls
    this.#urls = urls
    const added = urls.filter((url) => !before.includes(url))
    const removed = before.filter((url) => !urls.includes(url))
    if (added[0] || removed[0])
      this.#target.dispatchEvent(new CustomEvent('urlschange', { detail: { added, removed } }))
  }

  /** Dispatches `error`. It is bound, so it can be passed as a callback. */
  readonly error = (error: SvcError): void => {
    this.debug({ type: 'error', code: error.code, message: error.message })
    const event = new SiteErrorEvent(error)
    this.#target.dispatchEvent(event)
    if (!event.wasRead) this.#log(error)
  }

  /**
   * Logs to the console what would go unnoticed: the handler's errors, and visitors who cannot connect. The same error is
   * logged once, because visitors can repeat it.
   */
  #log({ code, cause }: SvcError): void {
    const text = `${code}: ${messageOf(cause)}`
    if (!UNSEEN.test(code) || text === this.#logged) return
    this.#logged = text
    // biome-ignore lint/suspicious/noConsole: the site has no listener for `error`
    console.error(text, cause)
  }

  /** Holds `error` until the site is online, and dispatches it then. */
  holdError(error: SvcError): void {
    this.#held = error
  }

  releaseError(): void {
    const error = this.#held
    this.#held = undefined
    if (error) setTimeout(() => this.error(error))
  }

  cache({ present, expires_at: expiresAt }: CacheStatus): void {
    this.debug({ type: 'cache', present, expiresAt })
    this.#target.dispatchEvent(new Event('cachechange'))
  }

  pressure(closedForOthers: number, isFull: boolean): void {
    this.debug({ type: 'pressure', closedForOthers, isFull })
    this.#target.dispatchEvent(new SitePressureEvent(closedForOthers, isFull))
  }
}
