// A queue of bytes in one array, so that tiny frames cost no more than their octets.

/** The smallest allocation for joining, in bytes. */
const STORE_MIN_BYTES = 4096

export class ByteQueue {
  #store: Uint8Array = new Uint8Array(0)
  length = 0

  /** Copies `bytes`, which may be part of a larger buffer that is still in use. */
  push(bytes: Uint8Array): void {
    const length = this.length + bytes.length
    if (this.length === 0) this.#store = bytes.slice()
    else {
      if (length > this.#store.length) this.#grow(length)
      this.#store.set(bytes, this.length)
    }
    this.length = length
  }

  /** Returns all queued bytes, which the caller owns. */
  take(): Uint8Array {
    const bytes = this.#store.subarray(0, this.length)
    this.#store = new Uint8Array(0)
    this.length = 0
    return bytes
  }

  #grow(length: number): void {
    const store = new Uint8Array(Math.max(STORE_MIN_BYTES, 2 * length))
    store.set(this.#store.subarray(0, this.length))
    this.#store = store
  }
}
