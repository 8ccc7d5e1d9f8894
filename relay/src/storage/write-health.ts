// Tracks whether the relay can write its state files, for `/healthz`, metrics and the log.

import { STATE_RETRY_MS } from '../limits.ts'
import type { Logger } from '../log/log.ts'

/** One write. Rejects when it failed. */
type Write = () => Promise<void>

export class WriteHealth {
  readonly #log: Logger
  /** File → the timer of its next attempt. */
  readonly #failing = new Map<string, NodeJS.Timeout>()
  /** Writes that failed since the relay started. */
  failures = 0

  constructor(log: Logger) {
    this.#log = log
  }

  /** Files whose last write failed. */
  get failing(): string[] {
    return [...this.#failing.keys()]
  }

  /** Sentences for the health endpoint; empty when all writes succeed. */
  get problems(): string[] {
    if (this.failing.length === 0) return []
    const files = this.failing.join(' and ')
    return [`the relay cannot write ${files}: it serves the sites that it has and refuses new ones`]
  }

  /**
   * Runs a write of `file` and records the outcome. After a failure, which is logged once, it calls `retry` until a
   * write succeeds, so that the relay notices a disk with room again.
   */
  async watch(file: string, write: Write, retry: Write): Promise<void> {
    try {
      await write()
    } catch (error) {
      this.#failed(file, error, retry)
      throw error
    }
    this.#succeeded(file)
  }

  /** Stops the retries. */
  close(): void {
    for (const timer of this.#failing.values()) clearTimeout(timer)
  }

  #failed(file: string, error: unknown, retry: Write): void {
    this.failures += 1
    if (!this.#failing.has(file))
      this.#log.error({ file, err: error }, 'the relay cannot write a state file and refuses new sites')
    clearTimeout(this.#failing.get(file))
    this.#failing.set(file, setTimeout(() => void retry().catch(() => {}), STATE_RETRY_MS).unref())
  }

  #succeeded(file: string): void {
    if (!this.#failing.has(file)) return
    clearTimeout(this.#failing.get(file))
    this.#failing.delete(file)
    this.#log.info({ file }, 'the relay can write the state file again')
  }
}
