// Polls the DNSSEC state of the base domain until the provider says that it is active.

import { pause } from '@svc/protocol/timers'
import type { DnsProvider, DnssecState } from '../dns/provider.ts'
import { ProviderBackoff } from '../dns/provider-backoff.ts'
import { DNSSEC_SYNC_MS } from './limits.ts'

/** States with which providers report a signed zone. */
const ACTIVE = ['active', 'on', 'signing', 'transfer']

interface DnssecSyncParts {
  provider: DnsProvider
  /**
   * Whether the provider's state proves that DNSSEC works: the embedded provider cannot know what the parent zone has.
   */
  isVerifiable: boolean
  /** Milliseconds between two polls. */
  intervalMs?: number | undefined
}

export class DnssecSync {
  readonly #parts: DnssecSyncParts
  readonly #closing = new AbortController()
  readonly #running: Promise<void>
  #state: DnssecState = { state: '', dsRecord: '', message: '' }
  #error = ''
  #hasSucceeded = false

  constructor(parts: DnssecSyncParts) {
    this.#parts = parts
    this.#running = this.#repeat()
  }

  /** The state from the last successful poll. */
  get state(): DnssecState {
    return this.#state
  }

  /** Why the last poll failed; empty when it succeeded. */
  get error(): string {
    return this.#error
  }

  /** Whether the last poll succeeded and found a signed zone. */
  get isVerified(): boolean {
    const isActive = ACTIVE.includes(this.#state.state.toLowerCase())
    return this.#parts.isVerifiable && this.#hasSucceeded && isActive
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#running
  }

  async #repeat(): Promise<void> {
    const { provider, intervalMs = DNSSEC_SYNC_MS } = this.#parts
    const { signal } = this.#closing
    const pauses = new ProviderBackoff()
    while (!signal.aborted && !this.isVerified) {
      let pauseMs = intervalMs
      try {
        this.#state = await provider.dnssec(signal)
        this.#hasSucceeded = true
        this.#error = ''
        pauses.reset()
      } catch (error) {
        if (signal.aborted) return
        this.#hasSucceeded = false
        this.#error = (error as Error).message
        pauseMs = Math.min(pauses.after(error), intervalMs)
      }
      await pause(this.isVerified ? 0 : pauseMs, signal)
    }
  }
}
