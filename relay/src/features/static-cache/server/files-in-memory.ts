// Keeps small files that visitors currently request in memory, so that a response needs no read.

import { readFile } from 'node:fs/promises'
import type { Semaphore } from '@svc/node-kit/semaphore'
import { MEMORY_FILE_IDLE_MS, MEMORY_FILE_MAX_BYTES, MEMORY_FILES_MAX_BYTES } from './limits.ts'
import type { Representation } from './representation.ts'

interface Held {
  readonly body: Buffer
  /** True if a visitor has requested it since the last check. */
  isUsed: boolean
}

export class FilesInMemory {
  readonly #reads: Semaphore
  readonly #maxBytes: number
  /** The one that was read longest ago is first, except that those used since follow. */
  readonly #held = new Map<Representation, Held>()
  readonly #reading = new Map<Representation, Promise<Buffer>>()
  #bytes = 0
  #sweep: NodeJS.Timeout | undefined

  /** @param reads bounds how many files are read at once */
  constructor(reads: Semaphore, maxBytes: number = MEMORY_FILES_MAX_BYTES) {
    this.#reads = reads
    this.#maxBytes = maxBytes
  }

  /** Bytes of all files in memory. */
  get bytes(): number {
    return this.#bytes
  }

  /** Returns whether a file is small enough to be here. */
  suits({ size }: Representation): boolean {
    return size <= MEMORY_FILE_MAX_BYTES
  }

  get(of: Representation): Buffer | undefined {
    const held = this.#held.get(of)
    if (held === undefined) return undefined
    held.isUsed = true
    return held.body
  }

  /**
   * Reads a file; requests that arrive during the read share it.
   * @throws Error when the file cannot be read, or has another size
   */
  async read(of: Representation, path: string): Promise<Buffer> {
    const underWay = this.#reading.get(of)
    if (underWay !== undefined) return await underWay
    const reading = this.#reads.run(() => readFile(path)).finally(() => this.#reading.delete(of))
    this.#reading.set(of, reading)
    const body = await reading
    if (body.length !== of.size) throw new Error(`${path} has ${body.length} bytes instead of ${of.size}`)
    this.#hold(of, body)
    return body
  }

  close(): void {
    clearInterval(this.#sweep)
    this.#held.clear()
    this.#bytes = 0
  }

  #hold(of: Representation, body: Buffer): void {
    if (this.#held.has(of)) return
    this.#held.set(of, { body, isUsed: false })
    this.#bytes += body.length
    // A file in use is spared only once, so the loop ends.
    for (const [oldest, held] of this.#held) {
      if (this.#bytes <= this.#maxBytes) break
      this.#release(oldest, held)
      if (!held.isUsed) continue
      this.#held.set(oldest, { body: held.body, isUsed: false })
      this.#bytes += held.body.length
    }
    this.#sweep ??= setInterval(() => this.#releaseIdle(), MEMORY_FILE_IDLE_MS).unref()
  }

  #releaseIdle(): void {
    for (const [of, held] of this.#held) {
      if (held.isUsed) held.isUsed = false
      else this.#release(of, held)
    }
    if (this.#held.size > 0) return
    clearInterval(this.#sweep)
    this.#sweep = undefined
  }

  #release(of: Representation, { body }: Held): void {
    this.#held.delete(of)
    this.#bytes -= body.length
  }
}
