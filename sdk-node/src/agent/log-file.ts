// A log: lines in a file of limited size. The previous file is kept, with `.1` after its name.

import { appendFileSync } from 'node:fs'
import { appendFile, lstat, open, rename, rm } from 'node:fs/promises'

/** The size at which the agent's log is rotated, in bytes. One rotated file is kept. */
const LOG_FILE_MAX_BYTES = 1024 * 1024
/** The most bytes of log lines that wait for the disk; further lines are counted and dropped. */
const LOG_WAITING_MAX_BYTES = 256 * 1024
/** The longest line of JSON, in characters: a message may quote a relay. */
const LOG_LINE_MAX_CHARS = 4096
const PRIVATE_MODE = 0o600

export class LogFile {
  readonly #path: string
  readonly #maxBytes: number
  readonly #onLost: ((count: number, cause: unknown) => void) | undefined
  #waiting: string[] = []
  #waitingBytes = 0
  #leftOut = 0
  #writing: Promise<void> | undefined

  /**
   * @param maxBytes the size at which the file is rotated
   * @param onLost called with the number of lost lines, and why. By default, a line of the file says how many
   */
  constructor(
    path: string,
    maxBytes: number = LOG_FILE_MAX_BYTES,
    onLost?: (count: number, cause: unknown) => void,
  ) {
    this.#path = path
    this.#maxBytes = maxBytes
    this.#onLost = onLost
  }

  /** Queues an entry as a line of JSON with its time. */
  write(entry: object): void {
    this.writeLine(cut(entry))
  }

  /** Queues a line without waiting for the disk. If the disk is full or too slow, lines are lost. */
  writeLine(text: string): void {
    const line = `${text}\n`
    const size = Buffer.byteLength(line)
    if (this.#waitingBytes + size > LOG_WAITING_MAX_BYTES) {
      this.#leftOut++
      return
    }
    this.#waiting.push(line)
    this.#waitingBytes += size
    this.#writing ??= this.#drain().finally(() => {
      this.#writing = undefined
    })
  }

  /** Writes a line synchronously, for a process that is about to exit. */
  writeNow(entry: object): void {
    try {
      appendFileSync(this.#path, `${cut(entry)}\n`, { mode: PRIVATE_MODE })
    } catch {
      // There is nowhere else to report this.
    }
  }

  /** Resolves when the queued lines are in the file. */
  async flush(): Promise<void> {
    await this.#writing
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const lines = this.#waiting.splice(0)
      const text = lines.join('')
      let cause: unknown
      try {
        await this.#append(text)
      } catch (error) {
        cause = error
        this.#leftOut += lines.length
      }
      this.#waitingBytes -= Buffer.byteLength(text)
      if (this.#leftOut > 0 && this.#waiting.length === 0) await this.#tellLost(cause)
    }
  }

  async #tellLost(cause: unknown): Promise<void> {
    const count = this.#leftOut
    this.#leftOut = 0
    if (this.#onLost) return this.#onLost(count, cause)
    const line = cut({ event: 'log', message: `${count} lines were left out` })
    await this.#append(`${line}\n`).catch(() => {
      this.#leftOut += count
    })
  }

  /** Opens the file each time, because another program may have rotated it. */
  async #append(text: string): Promise<void> {
    const found = await lstat(this.#path).catch(() => undefined)
    // A link may lead to a device, which stays where it is.
    if (found?.isFile() && found.size > 0 && found.size + Buffer.byteLength(text) > this.#maxBytes) {
      await rm(`${this.#path}.1`, { force: true })
      await rename(this.#path, `${this.#path}.1`)
    }
    await appendFile(this.#path, text, { mode: PRIVATE_MODE })
  }
}

/** Resolves with the last lines of the log, oldest first. */
export async function lastLines(path: string, count: number): Promise<string[]> {
  const now = await linesOf(path)
  const before = now.length < count ? await linesOf(`${path}.1`) : []
  return [...before, ...now].slice(-count)
}

async function linesOf(path: string): Promise<string[]> {
  const file = await open(path, 'r').catch(() => undefined)
  if (file === undefined) return []
  try {
    const text = await file.readFile('utf8')
    return text.split('\n').filter((line) => line !== '')
  } finally {
    await file.close()
  }
}

function cut(entry: object): string {
  const line = JSON.stringify({ time: new Date().toISOString(), ...entry })
  if (line.length <= LOG_LINE_MAX_CHARS) return line
  // Leaves half of it for JSON escapes.
  const start = line.slice(0, LOG_LINE_MAX_CHARS / 2)
  return JSON.stringify({ time: new Date().toISOString(), event: 'log', message: `${start}…` })
}
