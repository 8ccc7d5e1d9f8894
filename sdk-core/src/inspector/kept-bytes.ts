// The beginning of a content: a bounded number of its bytes, and the length of all.

const NONE: Uint8Array<ArrayBuffer> = new Uint8Array(0)

export class KeptBytes {
  readonly #max: number
  /** It grows by doubling: a visitor may send single bytes. */
  #buffer: Uint8Array<ArrayBuffer> = NONE
  #kept = 0
  #bytes = 0

  constructor(max: number) {
    this.#max = max
  }

  /** The length of all that came, in bytes. */
  get bytes(): number {
    return this.#bytes
  }

  get beginning(): Uint8Array<ArrayBuffer> {
    return this.#buffer.subarray(0, this.#kept)
  }

  /** Copies the bytes, for their buffer may be used again. @returns the bytes of memory that this takes in addition */
  add(bytes: Uint8Array): number {
    this.#bytes += bytes.length
    const count = Math.min(this.#max - this.#kept, bytes.length)
    if (count <= 0) return 0
    const needed = this.#kept + count
    const before = this.#buffer.length
    if (needed > before) {
      const grown = new Uint8Array(before === 0 ? needed : Math.min(this.#max, Math.max(needed, 2 * before)))
      grown.set(this.#buffer.subarray(0, this.#kept))
      this.#buffer = grown
    }
    this.#buffer.set(count === bytes.length ? bytes : bytes.subarray(0, count), this.#kept)
    this.#kept = needed
    return this.#buffer.length - before
  }
}
