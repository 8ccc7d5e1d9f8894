// Encodes fields as header blocks (RFC 7541): a repeated field takes one octet, any other field is a literal.

import type { Field } from '../semantics/fields.ts'
import { entrySize } from './decoder.ts'
import { HEADER_TABLE_BYTES } from './limits.ts'
import { STATIC_TABLE } from './static-table.ts'

/** The values of these fields rarely repeat, and would only evict others. */
const UNLIKELY_AGAIN = new Set(['content-length', 'content-range', 'etag', 'last-modified', 'location'])
/** The values of these fields must not be guessed from sizes (§7.1.3). */
const SECRET = new Set(['set-cookie', 'authorization', 'www-authenticate', 'proxy-authenticate'])
/** An integer below 2^32 has at most this many octets after its prefix. */
const INTEGER_BYTES_MAX = 6

const staticIndex = new Map<string, number>()
STATIC_TABLE.forEach(([name, value], i) => {
  if (!staticIndex.has(name)) staticIndex.set(name, i + 1)
  if (value !== '') staticIndex.set(keyOf(name, value), i + 1)
})

export class HpackEncoder {
  /** Maps name and value to the number of their insertion, oldest first. */
  readonly #entries = new Map<string, { insertion: number; size: number }>()
  #insertions = 0
  #size = 0
  #maxSize = HEADER_TABLE_BYTES
  /** The smallest size since the last block, if the SDK must announce a change to the visitor (§4.2). */
  #resized: number | undefined
  #block: Uint8Array = new Uint8Array(0)
  #at = 0

  /** Applies the visitor's SETTINGS_HEADER_TABLE_SIZE, the limit of its decoder. */
  resize(size: number): void {
    this.#maxSize = Math.min(size, HEADER_TABLE_BYTES)
    this.#resized = Math.min(this.#resized ?? this.#maxSize, this.#maxSize)
    this.#evict(0)
  }

  /**
   * Encodes a header block.
   * @param fields names in lower case; values of code units up to 255
   */
  encode(fields: readonly Field[]): Uint8Array {
    let room = 2 * INTEGER_BYTES_MAX
    for (const [name, value] of fields) room += name.length + value.length + 3 * INTEGER_BYTES_MAX
    this.#block = new Uint8Array(room)
    this.#at = 0
    if (this.#resized !== undefined) {
      if (this.#resized < this.#maxSize) this.#integer(0x20, 5, this.#resized)
      this.#integer(0x20, 5, this.#maxSize)
      this.#resized = undefined
    }
    for (const field of fields) this.#field(field)
    return this.#block.subarray(0, this.#at)
  }

  #field(field: Field): void {
    const key = keyOf(field[0], field[1])
    const entry = this.#entries.get(key)
    const index = entry ? STATIC_TABLE.length + this.#insertions - entry.insertion : staticIndex.get(key)
    if (index !== undefined) this.#integer(0x80, 7, index)
    else if (SECRET.has(field[0])) this.#literal(0x10, 4, field)
    else if (this.#isWorthKeeping(field)) this.#insert(field, key)
    else this.#literal(0x00, 4, field)
  }

  /** Returns whether to index a field: one large value must not evict all the small ones. */
  #isWorthKeeping(field: Field): boolean {
    return !UNLIKELY_AGAIN.has(field[0]) && entrySize(field) <= this.#maxSize / 4
  }

  #insert(field: Field, key: string): void {
    this.#literal(0x40, 6, field)
    const size = entrySize(field)
    this.#evict(size)
    this.#entries.set(key, { insertion: this.#insertions++, size })
    this.#size += size
  }

  #evict(room: number): void {
    for (const [key, { size }] of this.#entries) {
      if (this.#size + room <= this.#maxSize) return
      this.#entries.delete(key)
      this.#size -= size
    }
  }

  #literal(pattern: number, prefixBits: number, [name, value]: Field): void {
    const index = staticIndex.get(name) ?? 0
    this.#integer(pattern, prefixBits, index)
    if (index === 0) this.#string(name)
    this.#string(value)
  }

  #integer(pattern: number, prefixBits: number, value: number): void {
    const max = 2 ** prefixBits - 1
    if (value < max) {
      this.#block[this.#at++] = pattern | value
      return
    }
    this.#block[this.#at++] = pattern | max
    let rest = value - max
    for (; rest >= 0x80; rest >>>= 7) this.#block[this.#at++] = (rest & 0x7f) | 0x80
    this.#block[this.#at++] = rest
  }

  #string(text: string): void {
    this.#integer(0, 7, text.length)
    for (let i = 0; i < text.length; i++) this.#block[this.#at++] = text.charCodeAt(i)
  }
}

function keyOf(name: string, value: string): string {
  return `${name}\0${value}`
}
