// Joins the content of TLS records into one write, which costs little more than a write of one record.

import type { Writable } from 'node:stream'
import { COALESCE_BUFFERS_SPARE_MAX, COALESCE_BYTES } from '../limits.ts'

/** Unused buffers. New ones would cost more than everything else here. */
const spare: Buffer[] = []

export class WriteCoalescer {
  readonly #to: Writable
  #buffer: Buffer | undefined
  #bytes = 0

  constructor(to: Writable) {
    this.#to = to
  }

  /** Copies `bytes`, and writes each full buffer. */
  add(bytes: Buffer): void {
    for (let done = 0; done < bytes.length; ) {
      this.#buffer ??= spare.pop() ?? Buffer.allocUnsafeSlow(COALESCE_BYTES)
      const copied = bytes.copy(this.#buffer, this.#bytes, done)
      done += copied
      this.#bytes += copied
      if (this.#bytes === COALESCE_BYTES) this.flush()
    }
  }

  /** Writes the bytes collected so far. */
  flush(): void {
    const buffer = this.#buffer
    if (buffer === undefined) return
    this.#to.write(buffer.subarray(0, this.#bytes), () => release(buffer))
    this.#buffer = undefined
    this.#bytes = 0
  }
}

function release(buffer: Buffer): void {
  if (spare.length < COALESCE_BUFFERS_SPARE_MAX) spare.push(buffer)
}
