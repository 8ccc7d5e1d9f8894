// The payload of a message as its frames bring it: unmasked and joined, in memory that grows with what has come.

import { STORE_MIN_BYTES } from './limits.ts'

export class MessagePayload {
  #store: Uint8Array<ArrayBuffer> = new Uint8Array(0)
  #length = 0

  get length(): number {
    return this.#length
  }

  /**
   * @param at where in its frame's payload the piece begins (the mask repeats, §5.3)
   * @param total of the whole message, once its last frame has begun
   */
  append(piece: Uint8Array, mask: Uint8Array, at: number, total: number | undefined): void {
    const needed = this.#length + piece.length
    if (needed > this.#store.length) this.#grow(needed, total)
    unmask(piece, mask, at, this.#store.subarray(this.#length, needed))
    this.#length = needed
  }

  /** All of it, in an ArrayBuffer of its own. */
  take(): Uint8Array<ArrayBuffer> {
    return this.#store.length === this.#length ? this.#store : this.#store.slice(0, this.#length)
  }

  /** A length that is only announced costs nothing, and many small pieces are moved only a few times. */
  #grow(needed: number, total: number = Number.POSITIVE_INFINITY): void {
    const store = new Uint8Array(Math.min(Math.max(STORE_MIN_BYTES, 2 * needed), total))
    store.set(this.#store.subarray(0, this.#length))
    this.#store = store
  }
}

/** §5.3. @param at where in the payload `from` begins */
export function unmask(from: Uint8Array, mask: Uint8Array, at: number, to: Uint8Array): void {
  for (let i = 0; i < from.length; i++) to[i] = from[i]! ^ mask[(at + i) & 3]!
}
