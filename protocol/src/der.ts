// Writes and reads DER (X.690 §10), as certificates and the requests for them have it. The reader takes the one allowed
// form of each length and nothing else.

/** DER_TAG are the identifier octets of the types that certificates use (X.690 §8, RFC 5280, RFC 2986). */
export const DER_TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
  /** `[0] IMPLICIT` of a primitive type: keyIdentifier of an AuthorityKeyIdentifier. */
  context0: 0x80,
  /** dNSName of a GeneralName. */
  dnsName: 0x82,
  /** `[0]` of a constructed type: the version of a certificate, the attributes of a request. */
  constructed0: 0xa0,
  /** `[3]` of a constructed type: the extensions of a certificate. */
  constructed3: 0xa3,
} as const

/** DER_OID are object identifiers, as the content of an element in hexadecimal. */
export const DER_OID = {
  /** extensionRequest (RFC 2985 §5.4.2). */
  extensionRequest: '2a864886f70d01090e',
  subjectAltName: '551d11',
  ecdsaWithSha256: '2a8648ce3d040302',
} as const

/** A DerElement is one element: its tag, its content, and its whole encoding. */
export interface DerElement {
  tag: number
  content: Uint8Array
  der: Uint8Array
}

/** Encodes an element whose content is `parts`, one after the other. */
export function encodeDer(tag: number, ...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  const header = [tag, ...encodeLength(length)]
  const element = new Uint8Array(header.length + length)
  element.set(header)
  let at = header.length
  for (const part of parts) {
    element.set(part, at)
    at += part.length
  }
  return element
}

/** @param digits the content, as in {@link DER_OID} */
export function encodeDerOid(digits: string): Uint8Array<ArrayBuffer> {
  const content = Uint8Array.from(digits.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
  return encodeDer(DER_TAG.objectIdentifier, content)
}

function encodeLength(length: number): number[] {
  if (length < 0x80) return [length]
  const bytes: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return [0x80 + bytes.length, ...bytes]
}

/** A DerReader takes the elements of a sequence one after the other. */
export class DerReader {
  readonly #bytes: Uint8Array
  #at = 0

  /** @param bytes the elements, without anything around them */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isDone(): boolean {
    return this.#at === this.#bytes.length
  }

  /**
   * Takes the next element.
   * @param tag the tag that it must have; undefined stands for any
   * @throws RangeError when it is cut short, has another tag, or a length that is not in its shortest form
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
    // Two bytes of length are enough for all that is read here.
    const width = first - 0x80
    if (width < 1 || width > 2) throw new RangeError('DER has a length of that form')
    const length = width === 1 ? this.#byte() : this.#byte() * 256 + this.#byte()
    if (length < (width === 1 ? 0x80 : 0x100))
      throw new RangeError('DER has a length that is not in its shortest form')
    return length
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++]
    if (byte === undefined) throw new RangeError('DER is cut short')
    return byte
  }
}
