// Collects the payload of a message from its frames: unmasked and joined, in memory that grows with the received bytes.

import { STORE_MIN_BYTES } from './limits.ts'

export class MessagePayload {
  #store: Uint8Array<ArrayBuffer> = new Uint8Array(0)
  #length = 0

  get length(): number {
    return this.#length
  }

  /**
   * Adds a piece.
   * @param at the piece's offset in the payload of its frame (the mask repeats, §5.3)
   * @param total the length of the whole message, once its last frame has begun
   */
  append(piece: Uint8Array, mask: Uint8Array, at: number, total: number | undefined): void {
    const needed = this.#length + piece.length
    if (needed > this.#store.length) this.#grow(needed, total)
    unmask(piece, mask, at, this.#store.subarray(this.#length, needed))
    this.#length = needed
  }

  /** Returns the whole payload, in a new ArrayBuffer. */
  take(): Uint8Array<ArrayBuffer> {
    return this.#store.length === this.#length ? this.#store : this.#store.slice(0, this.#length)
  }

  /** Makes room. A merely announced length costs no memory, and many small pieces are moved only a few times. */
  #grow(needed: number, total: number = Number.POSITIVE_INFINITY): void {
    const store = new Uint8Array(Math.min(Math.max(STORE_MIN_BYTES, 2 * needed), total))
    store.set(this.#store.subarray(0, this.#length))
    this.#store = store
  }
}

/**
 * Unmasks bytes (§5.3).
 * @param at the offset of `from` in the payload
 */
export function unmask(from: Uint8Array, mask: Uint8Array, at: number, to: Uint8Array): void {
  for (let i = 0; i < from.length; i++) to[i] = from[i]! ^ mask[(at + i) & 3]!
}
