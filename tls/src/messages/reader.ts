// A cursor over one message: it reads big-endian integers and length-prefixed vectors (RFC 8446 §3).

import { DecodeError } from './errors.ts'

export class Reader {
  readonly #bytes: Uint8Array
  readonly #what: string
  #offset: number

  /** @param what names the structure in errors */
  constructor(bytes: Uint8Array, what: string, offset = 0) {
    this.#bytes = bytes
    this.#what = what
    this.#offset = offset
  }

  get offset(): number {
    return this.#offset
  }

  get done(): boolean {
    return this.#offset === this.#bytes.length
  }

  u8(): number {
    return this.#integer(1)
  }

  u16(): number {
    return this.#integer(2)
  }

  u24(): number {
    return this.#integer(3)
  }

  u32(): number {
    return this.#integer(4)
  }

  /** Returns a view, not a copy. */
  bytes(length: number): Uint8Array {
    const end = this.#offset + length
    if (end > this.#bytes.length) throw new DecodeError('decode_error', `${this.#what} is cut short`)
    const view = this.#bytes.subarray(this.#offset, end)
    this.#offset = end
    return view
  }

  /** Returns a view of the bytes that were read since offset `start`. */
  since(start: number): Uint8Array {
    return this.#bytes.subarray(start, this.#offset)
  }

  /** Reads `opaque v<min..max>` whose length takes `width` bytes. The width bounds the maximum. */
  vector(width: 1 | 2 | 3, min = 0): Uint8Array {
    const length = this.#integer(width)
    if (length < min) throw new DecodeError('decode_error', `a vector of ${this.#what} is too short`)
    return this.bytes(length)
  }

  /** Reads `uint16 v<2..2^8·width-1>`: at least one value, and only whole values. */
  u16Vector(width: 1 | 2): number[] {
    const bytes = this.vector(width, 2)
    if (bytes.length % 2 !== 0)
      throw new DecodeError('decode_error', `a list of ${this.#what} has an odd length`)
    return Array.from({ length: bytes.length / 2 }, (_, i) => (bytes[2 * i]! << 8) | bytes[2 * i + 1]!)
  }

  /** Refuses trailing bytes. */
  end(): void {
    if (!this.done) throw new DecodeError('decode_error', `${this.#what} has trailing bytes`)
  }

  #integer(width: number): number {
    const bytes = this.bytes(width)
    let value = 0
    for (const byte of bytes) value = value * 256 + byte
    return value
  }
}
