// Joins TLS records into one write, which costs little more than a write of one record.

import type { Writable } from 'node:stream'
import { SpareBuffers } from './spare-buffers.ts'

/**
 * TLS records that the relay joins into one write, and what it reads of a TLS socket in one turn of the event loop.
 * Twice as much gains nothing.
 */
export const COALESCE_BYTES: number = 64 * 1024
/** Fewer bytes than this are copied by `Buffer.from`, which has pooled memory for them. */
const FEW_BYTES = Buffer.poolSize / 2
/** Unused buffers of `COALESCE_BYTES` that the relay keeps: 4 MiB. */
const COALESCE_BUFFERS_SPARE_MAX = 64

const spare = new SpareBuffers(COALESCE_BYTES, COALESCE_BUFFERS_SPARE_MAX)

export class WriteCoalescer {
  readonly #to: Writable
  #buffer: Buffer | undefined
  #bytes = 0
  /** The first bytes while they are few; often no more follow. */
  #few: Buffer | undefined

  constructor(to: Writable) {
    this.#to = to
  }

  /** Copies `bytes`, and writes each full buffer. */
  add(bytes: Uint8Array): void {
    if (this.#buffer === undefined && this.#few === undefined && bytes.length < FEW_BYTES) {
      this.#few = Buffer.from(bytes)
      return
    }
    const few = this.#few
    this.#few = undefined
    if (few !== undefined) this.#collect(few)
    this.#collect(bytes)
  }

  #collect(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length; ) {
      this.#buffer ??= spare.take()
      const copied = Math.min(bytes.length - done, COALESCE_BYTES - this.#bytes)
      this.#buffer.set(bytes.subarray(done, done + copied), this.#bytes)
      done += copied
      this.#bytes += copied
      if (this.#bytes === COALESCE_BYTES) this.flush()
    }
  }

  /** Writes the bytes collected so far. */
  flush(): void {
    if (this.#few !== undefined) this.#to.write(this.#few)
    this.#few = undefined
    const buffer = this.#buffer
    if (buffer === undefined) return
    spare.write(this.#to, buffer, this.#bytes)
    this.#buffer = undefined
    this.#bytes = 0
  }
}
