// Writes log lines to a descriptor. One that is full, slow or closed neither delays nor ends the relay.

import { writeSync } from 'node:fs'

/** Bytes of log lines that wait while standard output accepts none. */
export const LOG_PENDING_MAX_BYTES: number = 1024 * 1024
/** Interval at which the relay tries to write them again. */
export const LOG_RETRY_MS = 100

export class LogOutput {
  readonly #descriptor: number
  readonly #maxBytes: number
  /** Lines in order; the first may be the rest of a line. */
  readonly #pending: Buffer[] = []
  #pendingBytes = 0
  #lost = 0
  #retry: NodeJS.Timeout | undefined

  /** @param maxBytes bytes of lines that wait for the descriptor; newer lines are lost */
  constructor(descriptor: number, maxBytes: number = LOG_PENDING_MAX_BYTES) {
    this.#descriptor = descriptor
    this.#maxBytes = maxBytes
    process.on('exit', () => this.#flush())
  }

  /** Never throws. @param line with its line break */
  write(line: string): void {
    this.#add(Buffer.from(line))
    if (this.#retry === undefined) this.#flush()
  }

  #add(line: Buffer): void {
    if (this.#pendingBytes + line.length > this.#maxBytes) {
      this.#lost += 1
      return
    }
    this.#pending.push(line)
    this.#pendingBytes += line.length
  }

  #flush(): void {
    this.#retry = undefined
    try {
      for (let line = this.#pending[0]; line !== undefined; line = this.#pending[0]) {
        const written = writeSync(this.#descriptor, line)
        this.#pendingBytes -= written
        if (written < line.length) this.#pending[0] = line.subarray(written)
        else this.#pending.shift()
        if (this.#pending.length === 0) this.#reportLost()
      }
    } catch {
      // A slow reader (EAGAIN), a full disk (ENOSPC) and a closed pipe (EPIPE) are all retried.
      this.#retry = setTimeout(() => this.#flush(), LOG_RETRY_MS).unref()
    }
  }

  #reportLost(): void {
    if (this.#lost === 0) return
    const entry = {
      level: WARN,
      time: new Date().toISOString(),
      lines: this.#lost,
      msg: 'log lines were lost',
    }
    this.#lost = 0
    this.#add(Buffer.from(`${JSON.stringify(entry)}\n`))
  }
}

/** Pino's number for the level `warn`. */
const WARN = 40
