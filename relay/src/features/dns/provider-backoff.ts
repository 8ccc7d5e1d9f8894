// Pauses between attempts to change records: each failure doubles the pause, and a success resets it.

import { Backoff } from '@svc/protocol/timers'
import { DNS_RETRY_AFTER_MAX_MS, DNS_RETRY_FIRST_MS, DNS_RETRY_MAX_MS } from './limits.ts'
import { DnsProviderError } from './provider.ts'

export class ProviderBackoff extends Backoff {
  /** @param firstMs milliseconds after the first failure */
  constructor(firstMs: number = DNS_RETRY_FIRST_MS) {
    super(firstMs, DNS_RETRY_MAX_MS)
  }

  /**
   * @returns milliseconds until the next attempt: the current pause, or what the provider asked for when that is longer
   */
  after(error: unknown): number {
    const asked = error instanceof DnsProviderError ? (error.retryAfterMs ?? 0) : 0
    return Math.max(this.next(), Math.min(asked, DNS_RETRY_AFTER_MAX_MS))
  }
}
