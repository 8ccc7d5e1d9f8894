// Reads DER (X.690 §10). It accepts only the shortest form of each length.

/** A DerElement is one element: its tag, its content, and its whole encoding. */
export interface DerElement {
  tag: number
  content: Uint8Array
  der: Uint8Array
}

/** A DerReader reads the elements of a sequence one by one. */
export class DerReader {
  readonly #bytes: Uint8Array
  #at = 0

  /** @param bytes the elements, without an enclosing one */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isDone(): boolean {
    return this.#at === this.#bytes.length
  }

  /**
   * Takes the next element.
   * @param tag the required tag; undefined for any
   * @throws RangeError when it is truncated, has another tag, or a length that is not in the shortest form
   */
  take(tag?: number): DerElement {
    const start = this.#at
    const found = this.#byte()
    if (tag !== undefined && found !== tag) throw new RangeError(`DER tag ${found}, not ${tag}`)
    const length = this.#length()
    const end = this.#at + length
    if (end > this.#bytes.length) throw new RangeError('DER is cut short')
    const content = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return { tag: found, content, der: this.#bytes.subarray(start, end) }
  }

  /** Takes the next element, and returns a reader of its content. */
  enter(tag: number): DerReader {
    return new DerReader(this.take(tag).content)
  }

  /** @throws RangeError when elements are left */
  end(): void {
    if (!this.isDone) throw new RangeError('DER has trailing bytes')
  }

  #length(): number {
    const first = this.#byte()
    if (first < 0x80) return first
    const width = first - 0x80
    let length = 0
    for (let i = 0; i < width; i++) length = length * 256 + this.#byte()
    // Three length bytes are enough for everything that is read here: a revocation list is the longest.
    if (width > 3 || length < Math.max(0x80, 256 ** (width - 1)))
      throw new RangeError('DER has a length of another form')
    return length
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++]
    if (byte === undefined) throw new RangeError('DER is cut short')
    return byte
  }
}
