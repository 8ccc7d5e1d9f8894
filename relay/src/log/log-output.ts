// Where log lines go: a descriptor that may be full, slow or gone. Nothing of that may hold up or end the relay.

import { writeSync } from 'node:fs'
import { LOG_PENDING_MAX_BYTES, LOG_RETRY_MS } from '../limits.ts'

export class LogOutput {
  readonly #descriptor: number
  readonly #maxBytes: number
  /** Oldest first; the first one may be the rest of a line. */
  readonly #pending: Buffer[] = []
  #pendingBytes = 0
  #lost = 0
  #retry: NodeJS.Timeout | undefined

  /** @param maxBytes of lines that wait until the descriptor takes them again; newer ones are lost */
  constructor(descriptor: number, maxBytes: number = LOG_PENDING_MAX_BYTES) {
    this.#descriptor = descriptor
    this.#maxBytes = maxBytes
    process.on('exit', () => this.#flush())
  }

  /** @param line with its line break. Never throws. */
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
        if (this.#pending.length === 0) this.#tellOfLost()
      }
    } catch {
      // A reader that is behind (EAGAIN), a full disk (ENOSPC), nobody at the other end (EPIPE): all may pass.
      this.#retry = setTimeout(() => this.#flush(), LOG_RETRY_MS).unref()
    }
  }

  #tellOfLost(): void {
    if (this.#lost === 0) return
    const entry = {
      level: WARN,
      time: new Date().toISOString(),
      lines: this.#lost,
      msg: 'lines of the log are lost',
    }
    this.#lost = 0
    this.#add(Buffer.from(`${JSON.stringify(entry)}\n`))
  }
}

/** Of pino. */
const WARN = 40
