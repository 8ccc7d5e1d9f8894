// Pauses between attempts to change records: each failure doubles the pause, and a success ends the row.

import { setTimeout as delay } from 'node:timers/promises'
import { DNS_RETRY_AFTER_MAX_MS, DNS_RETRY_FIRST_MS, DNS_RETRY_MAX_MS } from './limits.ts'
import { DnsProviderError } from './provider.ts'

export class Backoff {
  readonly #firstMs: number
  #nextMs: number

  /** @param firstMs milliseconds after the first failure */
  constructor(firstMs: number = DNS_RETRY_FIRST_MS) {
    this.#firstMs = firstMs
    this.#nextMs = firstMs
  }

  /** The next attempt that fails counts as the first. */
  reset(): void {
    this.#nextMs = this.#firstMs
  }

  /** @returns milliseconds until the next attempt: as long as the provider said, when that is longer */
  after(error: unknown): number {
    const asked = error instanceof DnsProviderError ? (error.retryAfterMs ?? 0) : 0
    const pauseMs = Math.max(this.#nextMs, Math.min(asked, DNS_RETRY_AFTER_MAX_MS))
    this.#nextMs = Math.min(2 * this.#nextMs, DNS_RETRY_MAX_MS)
    return pauseMs
  }
}

/** Waits; resolves early when the signal aborts. It does not keep the process. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal, ref: false }).catch(() => {})
}
