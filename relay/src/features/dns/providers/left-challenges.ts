// Removes challenge records that an earlier process left at the provider: at the start, and after later changes until
// none is left.

import { asProviderError } from '@svc/dns/providers'
import { untilAborted } from '@svc/protocol/timers'
import type { Logger } from '../../../core/log/log.ts'
import { LEFT_CHALLENGES_DEADLINE_MS } from './limits.ts'
import type { MadeRecord } from './record-journal.ts'

interface LeftChallengesParts {
  records: readonly MadeRecord[]
  /** Removes one record, in one attempt. */
  remove(record: MadeRecord, signal: AbortSignal): Promise<void>
  /** Aborts when the provider closes. */
  closing: AbortSignal
  log: Logger
}

export class LeftChallenges {
  readonly #parts: LeftChallengesParts
  readonly #left: Set<MadeRecord>
  #running: Promise<void> = Promise.resolve()
  #isRunning = false
  #hasWarned = false

  constructor(parts: LeftChallengesParts) {
    this.#parts = parts
    this.#left = new Set(parts.records)
  }

  /** Resolves when no removal is under way, after `LEFT_CHALLENGES_DEADLINE_MS` at the latest. Never rejects. */
  get idle(): Promise<void> {
    return this.#running
  }

  /** Keeps a record that an order wants: an authority may give the same challenge again (RFC 8555 §7.5). */
  keep(name: string, value: string): void {
    for (const record of this.#left)
      if (record.name === name && record.value === value) this.#left.delete(record)
  }

  /** Tries to remove each remaining record once, in the background, even when others fail. */
  clean(): void {
    if (this.#left.size === 0 || this.#isRunning || this.#parts.closing.aborted) return
    this.#isRunning = true
    this.#running = this.#pass().finally(() => {
      this.#isRunning = false
    })
  }

  async #pass(): Promise<void> {
    const { remove, closing, log } = this.#parts
    const signal = AbortSignal.any([closing, AbortSignal.timeout(LEFT_CHALLENGES_DEADLINE_MS)])
    let reason = ''
    for (const record of this.#left) {
      if (signal.aborted) break
      try {
        await untilAborted(remove(record, signal), signal)
        this.#left.delete(record)
      } catch (error) {
        reason = asProviderError(error).message
      }
    }
    if (this.#left.size === 0 || closing.aborted || this.#hasWarned) return
    this.#hasWarned = true
    log.warn(
      { records: this.#left.size, reason },
      'challenges of an earlier process are still at the DNS provider; the relay tries again after its next change',
    )
  }
}
