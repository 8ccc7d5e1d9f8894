// Joins handshake messages from the fragments that records carry (RFC 8446 §5.1).

import { HANDSHAKE_HEADER_BYTES } from './constants.ts'
import { DecodeError } from './errors.ts'

const INITIAL_BYTES = 512

/** MessageAssembler doubles its buffer as bytes arrive, and never trusts the length that a header claims. */
export class MessageAssembler {
  #buffer = new Uint8Array(INITIAL_BYTES)
  #start = 0
  #end = 0

  /** True between two messages. */
  get empty(): boolean {
    return this.#start === this.#end
  }

  push(fragment: Uint8Array): void {
    if (this.empty) this.#start = this.#end = 0
    if (this.#end + fragment.length > this.#buffer.length) this.#grow(fragment.length)
    this.#buffer.set(fragment, this.#end)
    this.#end += fragment.length
  }

  /** The type of the next message, once its first byte has arrived. */
  get type(): number | undefined {
    return this.empty ? undefined : this.#buffer[this.#start]!
  }

  /**
   * Returns a copy of the next whole message, header included.
   * @returns undefined while it is incomplete
   * @throws DecodeError as soon as its header claims more than `maxBytes`
   */
  shift(maxBytes: number): Uint8Array | undefined {
    const available = this.#end - this.#start
    if (available < HANDSHAKE_HEADER_BYTES) return undefined
    const [, high, middle, low] = this.#buffer.subarray(this.#start, this.#start + HANDSHAKE_HEADER_BYTES)
    const length = HANDSHAKE_HEADER_BYTES + ((high! << 16) | (middle! << 8) | low!)
    if (length > maxBytes)
      throw new DecodeError('illegal_parameter', `a handshake message of ${length} bytes`, 'too_large')
    if (available < length) return undefined
    const message = this.#buffer.slice(this.#start, this.#start + length)
    this.#start += length
    // The buffer of a long message must not be kept for the rest of the connection.
    if (this.empty && this.#buffer.length > INITIAL_BYTES) this.#buffer = new Uint8Array(INITIAL_BYTES)
    return message
  }

  #grow(more: number): void {
    const unread = this.#buffer.subarray(this.#start, this.#end)
    const needed = unread.length + more
    const next = needed <= this.#buffer.length / 2 ? this.#buffer : new Uint8Array(2 * needed)
    next.set(unread)
    this.#buffer = next
    this.#start = 0
    this.#end = unread.length
  }
}
