// Two ends of a connection in memory, with half-close, breaking and back-pressure.

import type { ByteStream } from '../../src/bytes/byte-stream.ts'

/** Bytes that wait at the other end before a write has to wait. */
const WINDOW_BYTES = 64 * 1024

export class MemoryStream implements ByteStream {
  /** Every write that was made on this end. */
  readonly writes: Uint8Array[] = []
  #other!: MemoryStream
  #arrived: Uint8Array[] = []
  #waiting = 0
  #ended = false
  #broken: { reason: unknown } | undefined
  #change = Promise.withResolvers<void>()

  static pair(): [MemoryStream, MemoryStream] {
    const left = new MemoryStream()
    const right = new MemoryStream()
    left.#other = right
    right.#other = left
    return [left, right]
  }

  /** Whether this end was broken, by either side. */
  get isBroken(): boolean {
    return this.#broken !== undefined
  }

  async read(): Promise<Uint8Array | undefined> {
    for (;;) {
      this.#check()
      const bytes = this.#arrived.shift()
      if (bytes) {
        this.#waiting -= bytes.length
        this.#other.#changed()
        return bytes
      }
      if (this.#ended) return undefined
      await this.#change.promise
    }
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#check()
    this.writes.push(bytes)
    this.#other.#arrived.push(bytes)
    this.#other.#waiting += bytes.length
    this.#other.#changed()
    while (!this.isBroken && this.#other.#waiting > WINDOW_BYTES) await this.#change.promise
    this.#check()
  }

  async end(): Promise<void> {
    this.#other.#ended = true
    this.#other.#changed()
  }

  abort(reason: unknown = new Error('aborted')): void {
    for (const end of [this, this.#other]) {
      end.#broken ??= { reason }
      end.#changed()
    }
  }

  #check(): void {
    if (this.#broken) throw this.#broken.reason
  }

  #changed(): void {
    this.#change.resolve()
    this.#change = Promise.withResolvers()
  }
}
