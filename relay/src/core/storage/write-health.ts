// Tracks whether the relay can write its state files, for `/healthz`, metrics and the log.

import type { Logger } from '../log/log.ts'

/** Interval at which the relay tries again to write a state file. Each attempt is one small write. */
export const STATE_RETRY_MS = 5_000

/** A file of the state directory, and the effect when it cannot be written. */
export interface WatchedFile {
  name: string
  /** The effect on the relay in the meantime: a clause for people. */
  meanwhile: string
}

/** One write. Rejects when it failed. */
type Write = () => Promise<void>

export class WriteHealth {
  readonly #log: Logger
  /** By the file's name. */
  readonly #failing = new Map<string, { meanwhile: string; nextAttempt: NodeJS.Timeout }>()
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
    return [...this.#failing].map(([file, { meanwhile }]) => `the relay cannot write ${file}: ${meanwhile}`)
  }

  /**
   * Runs a write of `file` and records the outcome. After a failure, which is logged once, it calls `retry` until a
   * write succeeds, so that the relay notices a disk with room again.
   */
  async watch(file: WatchedFile, write: Write, retry: Write): Promise<void> {
    try {
      await write()
    } catch (error) {
      this.#failed(file, error, retry)
      throw error
    }
    this.#succeeded(file.name)
  }

  /** Stops the retries. */
  close(): void {
    for (const { nextAttempt } of this.#failing.values()) clearTimeout(nextAttempt)
  }

  #failed({ name: file, meanwhile }: WatchedFile, error: unknown, retry: Write): void {
    this.failures += 1
    if (!this.#failing.has(file))
      this.#log.error({ file, meanwhile, err: error }, 'the relay cannot write a state file')
    clearTimeout(this.#failing.get(file)?.nextAttempt)
    const nextAttempt = setTimeout(() => void retry().catch(() => {}), STATE_RETRY_MS).unref()
    this.#failing.set(file, { meanwhile, nextAttempt })
  }

  #succeeded(file: string): void {
    if (!this.#failing.has(file)) return
    clearTimeout(this.#failing.get(file)?.nextAttempt)
    this.#failing.delete(file)
    this.#log.info({ file }, 'the relay can write the state file again')
  }
}
