// Failed admin logins per source: five a minute, then the source waits.

import { LOGIN_FAILURES_PER_MINUTE } from '@svc/protocol'
import { RelayError } from '../errors.ts'
import { LOGIN_SOURCES_MAX } from '../limits.ts'

const MINUTE_MS = 60_000

export class LoginAttempts {
  /** When each source failed within the last minute; the source that failed longest ago is first. */
  readonly #failures = new Map<string, number[]>()

  /** @throws RelayError `rate_limited` */
  require(source: string): void {
    const recent = this.#recent(source)
    const [oldest] = recent
    if (oldest === undefined || recent.length < LOGIN_FAILURES_PER_MINUTE) return
    const seconds = Math.ceil((oldest + MINUTE_MS - Date.now()) / 1000)
    throw new RelayError('rate_limited', 'too many failed logins', { 'Retry-After': `${seconds}` })
  }

  failed(source: string): void {
    const recent = [...this.#recent(source), Date.now()]
    this.#failures.delete(source)
    this.#failures.set(source, recent)
    const [longestAgo] = this.#failures.keys()
    if (this.#failures.size > LOGIN_SOURCES_MAX && longestAgo !== undefined) this.#failures.delete(longestAgo)
  }

  #recent(source: string): number[] {
    const since = Date.now() - MINUTE_MS
    return (this.#failures.get(source) ?? []).filter((at) => at > since)
  }
}
