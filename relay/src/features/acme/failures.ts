// Remembers failed orders: after each failure a name or an identity waits longer, from a minute up to half a day.

import { backoffMs } from '@svc/protocol/timers'
import { now } from '../../core/clock.ts'
import { AcmeError } from './authority.ts'
import {
  BACKOFF_JITTER_SHARE,
  BACKOFF_MAX_MS,
  BACKOFF_MIN_MS,
  FAILURE_MEMORY_MS,
  REASON_MAX_CHARS,
  RETRY_AFTER_MAX_MS,
} from './limits.ts'

/** A failure as it is saved. */
export interface SavedFailure {
  key: string
  /** Consecutive failures. */
  count: number
  /** Milliseconds until the next order. */
  remaining_ms: number
  reason: string
}

interface Failure {
  count: number
  /** Relay time of the next order. */
  until: number
  reason: string
}

export class Failures {
  readonly #max: number
  readonly #random: () => number
  readonly #byKey = new Map<string, Failure>()

  /** @param random a number from 0 to below 1 */
  constructor(max: number, random: () => number) {
    this.#max = max
    this.#random = random
  }

  /** The longest remaining pause of these keys, and its reason; undefined when none has to wait. */
  waiting(keys: readonly string[]): { retryAfterMs: number; key: string; reason: string } | undefined {
    let longest: { retryAfterMs: number; key: string; reason: string } | undefined
    for (const key of keys) {
      const { until = 0, reason = '' } = this.#byKey.get(key) ?? {}
      const retryAfterMs = until - now()
      if (retryAfterMs > (longest?.retryAfterMs ?? 0)) longest = { retryAfterMs, key, reason }
    }
    return longest
  }

  /** Adds one failure to each key. */
  add(keys: readonly string[], error: unknown): void {
    for (const key of keys) {
      const count = (this.#byKey.get(key)?.count ?? 0) + 1
      const reason = error instanceof Error ? error.message.slice(0, REASON_MAX_CHARS) : ''
      this.#set(key, { count, until: now() + this.#pauseMs(count, error), reason })
    }
  }

  remove(keys: readonly string[]): void {
    for (const key of keys) this.#byKey.delete(key)
  }

  saved(): SavedFailure[] {
    this.#forget()
    return [...this.#byKey].map(([key, { count, until, reason }]) => ({
      key,
      count,
      remaining_ms: Math.max(0, Math.ceil(until - now())),
      reason,
    }))
  }

  /**
   * @param elapsedMs time since `saved` was written, at least 0
   * @param longestMs upper bound of a remaining pause
   */
  restore(saved: readonly SavedFailure[], elapsedMs: number, longestMs: number): void {
    for (const { key, count, remaining_ms, reason } of saved) {
      const remaining = Math.min(remaining_ms - elapsedMs, longestMs)
      this.#set(key, { count, until: now() + remaining, reason })
    }
    this.#forget()
  }

  #set(key: string, failure: Failure): void {
    this.#byKey.set(key, failure)
    if (this.#byKey.size > this.#max) this.#byKey.delete(this.#soonest())
  }

  #forget(): void {
    for (const [key, { until }] of this.#byKey)
      if (now() - until >= FAILURE_MEMORY_MS) this.#byKey.delete(key)
  }

  #soonest(): string {
    let soonest = ''
    let earliest = Number.POSITIVE_INFINITY
    for (const [key, { until }] of this.#byKey) if (until < earliest) [soonest, earliest] = [key, until]
    return soonest
  }

  #pauseMs(count: number, error: unknown): number {
    const highest = BACKOFF_MAX_MS / (1 + BACKOFF_JITTER_SHARE)
    const { retryAfterMs = 0 } = error instanceof AcmeError ? error : {}
    const pause = backoffMs(count - 1, BACKOFF_MIN_MS, highest)
    const withJitter = pause * (1 + BACKOFF_JITTER_SHARE * this.#random())
    return Math.max(withJitter, Math.min(retryAfterMs, RETRY_AFTER_MAX_MS))
  }
}
