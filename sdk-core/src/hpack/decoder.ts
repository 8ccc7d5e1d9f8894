// Decodes header blocks to fields (RFC 7541). All blocks must be decoded in order, because each updates the dynamic table.

import { decodeLatin1 } from '../bytes/latin1.ts'
import type { Field } from '../semantics/fields.ts'
import { HpackError } from './error.ts'
import { decodeHuffman } from './huffman.ts'
import { HEADER_TABLE_BYTES } from './limits.ts'
import { STATIC_TABLE } from './static-table.ts'

/** The overhead of each entry, in octets (§4.1). */
const ENTRY_OVERHEAD_BYTES = 32
/** The largest shift: a longer integer would exceed every valid number. */
const INTEGER_SHIFT_MAX = 21

type Entry = readonly [name: string, value: string]

export class HpackDecoder {
  /** The entries of the dynamic table, oldest first. */
  readonly #entries: Entry[] = []
  #size = 0
  #maxSize = HEADER_TABLE_BYTES
  #block: Uint8Array = new Uint8Array(0)
  #at = 0

  /**
   * Decodes a whole block.
   * @param field called with each field in order; name and value are octets as Latin-1
   * @throws HpackError, after which nothing else on this connection can be decoded
   */
  decode(block: Uint8Array, field: (name: string, value: string) => void): void {
    this.#block = block
    this.#at = 0
    this.#resizes()
    while (this.#at < block.length) field(...this.#next())
  }

  /** Reads the size updates at the beginning of a block (§4.2). */
  #resizes(): void {
    while (this.#at < this.#block.length && (this.#block[this.#at]! & 0xe0) === 0x20) {
      const size = this.#integer(5)
      if (size > HEADER_TABLE_BYTES) throw new HpackError()
      this.#maxSize = size
      this.#evict(0)
    }
  }

  /** Reads one field (§6.1, §6.2): indexed, literal with incremental indexing, or literal without. */
  #next(): Entry {
    const first = this.#block[this.#at]!
    if (first >= 0x80) return this.#entry(this.#integer(7))
    const isIndexing = first >= 0x40
    if (!isIndexing && first >= 0x20) throw new HpackError()
    const index = this.#integer(isIndexing ? 6 : 4)
    const entry: Entry = [index === 0 ? this.#string() : this.#entry(index)[0], this.#string()]
    if (isIndexing) this.#insert(entry)
    return entry
  }

  #entry(index: number): Entry {
    const { length } = STATIC_TABLE
    const entry =
      index <= length ? STATIC_TABLE[index - 1] : this.#entries[this.#entries.length + length - index]
    if (!entry) throw new HpackError()
    return entry
  }

  /** Adds an entry. An entry larger than the table empties it, which is not an error (§4.4). */
  #insert(entry: Entry): void {
    const size = entrySize(entry)
    this.#evict(size)
    if (size > this.#maxSize) return
    this.#entries.push(entry)
    this.#size += size
  }

  #evict(room: number): void {
    while (this.#entries.length > 0 && this.#size + room > this.#maxSize)
      this.#size -= entrySize(this.#entries.shift()!)
  }

  /** Reads an integer (§5.1). */
  #integer(prefixBits: number): number {
    const max = 2 ** prefixBits - 1
    let value = this.#octet() & max
    if (value < max) return value
    for (let shift = 0; ; shift += 7) {
      const octet = this.#octet()
      if (shift > INTEGER_SHIFT_MAX) throw new HpackError()
      value += (octet & 0x7f) << shift
      if (octet < 0x80) return value
    }
  }

  /** Reads a string (§5.2). */
  #string(): string {
    const isHuffman = (this.#block[this.#at] ?? 0) >= 0x80
    const length = this.#integer(7)
    const bytes = this.#block.subarray(this.#at, this.#at + length)
    if (bytes.length < length) throw new HpackError()
    this.#at += length
    return isHuffman ? decodeHuffman(bytes) : decodeLatin1(bytes)
  }

  #octet(): number {
    const octet = this.#block[this.#at++]
    if (octet === undefined) throw new HpackError()
    return octet
  }
}

export function entrySize([name, value]: Field): number {
  return name.length + value.length + ENTRY_OVERHEAD_BYTES
}
