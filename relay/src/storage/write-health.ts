// Whether the relay can write what it keeps: told by each writer, asked by health, metrics and the log.

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

  /** For whoever asks for the relay's health. */
  get troubles(): string[] {
    if (this.failing.length === 0) return []
    const files = this.failing.join(' and ')
    return [`${files} cannot be written to disk: sites that are here are served, new ones are refused`]
  }

  /**
   * Runs a write of `file` and remembers how it went. A failure is logged once, and then tried again until it is over,
   * so that a disk with room again is noticed although nobody else writes.
   */
  async watch(file: string, write: Write, again: Write): Promise<void> {
    try {
      await write()
    } catch (error) {
      this.#failed(file, error, again)
      throw error
    }
    this.#succeeded(file)
  }

  /** Ends the attempts. */
  close(): void {
    for (const timer of this.#failing.values()) clearTimeout(timer)
  }

  #failed(file: string, error: unknown, again: Write): void {
    this.failures += 1
    if (!this.#failing.has(file))
      this.#log.error({ file, err: error }, 'what the relay keeps cannot be written; nothing new is taken')
    clearTimeout(this.#failing.get(file))
    this.#failing.set(file, setTimeout(() => void again().catch(() => {}), STATE_RETRY_MS).unref())
  }

  #succeeded(file: string): void {
    if (!this.#failing.has(file)) return
    clearTimeout(this.#failing.get(file))
    this.#failing.delete(file)
    this.#log.info({ file }, 'what the relay keeps is written again')
  }
}
