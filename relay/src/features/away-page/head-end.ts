// Finds where the head of a request ends, without keeping any of it but the method.

/** The empty line at the end of a head (RFC 9112 §2.1). */
const END = [0x0d, 0x0a, 0x0d, 0x0a]
const HEAD_METHOD = 'HEAD '

/**
 * - `open`: the head goes on
 * - `whole`: it has ended
 * - `too_long`: it has more bytes than it may have
 */
export type HeadState = 'open' | 'whole' | 'too_long'

export class HeadEnd {
  readonly #maxBytes: number
  #length = 0
  /** Bytes of {@link END} that the last bytes were. */
  #matched = 0
  /** The first bytes, as far as they are those of {@link HEAD_METHOD}. */
  #isHead = true

  /** @param maxBytes most bytes of the head, the empty line included */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Whether the method is HEAD, whose answer has no body. */
  get isHead(): boolean {
    return this.#isHead && this.#length >= HEAD_METHOD.length
  }

  /** Takes the next bytes, and looks at none beyond the head's. */
  take(bytes: Uint8Array): HeadState {
    for (const byte of bytes) {
      if (this.#length < HEAD_METHOD.length && byte !== HEAD_METHOD.charCodeAt(this.#length))
        this.#isHead = false
      this.#length += 1
      if (this.#length > this.#maxBytes) return 'too_long'
      this.#matched = byte === END[this.#matched] ? this.#matched + 1 : byte === END[0] ? 1 : 0
      if (this.#matched === END.length) return 'whole'
    }
    return 'open'
  }
}
