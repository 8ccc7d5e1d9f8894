// Keeps the buffers of finished writes for later ones, since allocating large buffers would dominate the cost of a copy.

import type { Writable } from 'node:stream'

export class SpareBuffers {
  /** Bytes of each buffer. */
  readonly size: number
  readonly #max: number
  readonly #spare: Buffer[] = []

  /** @param max unused buffers to keep */
  constructor(size: number, max: number) {
    this.size = size
    this.#max = max
  }

  /** Returns a buffer whose content is undefined. */
  take(): Buffer {
    return this.#spare.pop() ?? Buffer.allocUnsafeSlow(this.size)
  }

  /**
   * Writes the first bytes of a buffer of {@link take}, and keeps the buffer when they are written. After an error it
   * does not, since the system may still read from it.
   */
  write(to: Writable, buffer: Buffer, bytes: number): void {
    to.write(buffer.subarray(0, bytes), (error) => {
      if (!error && this.#spare.length < this.#max) this.#spare.push(buffer)
    })
  }
}
