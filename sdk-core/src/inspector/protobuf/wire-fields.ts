// The fields of a message without its descriptor, by number: the lines of `protoc --decode_raw`. Which type a field has is not in
// the message: bytes are shown as the text or the message that they can be.

import { hexOf } from '../../bytes/hex.ts'
import { BinaryReader, WireType } from './library.ts'

/** The most lines of one message. */
const LINES_MAX = 5_000
/** The deepest message in it: others are shown as bytes. */
const DEPTH_MAX = 32
/** The most bytes of a value that are shown in hexadecimal digits. */
const HEX_MAX_BYTES = 64
const TAG_BITS = 3

/** WireFields are the lines of a message, or of its beginning. */
export interface WireFields {
  lines: string[]
  /** False when it ends within a field, is no message, or has too many fields. */
  isWhole: boolean
}

export function wireFields(bytes: Uint8Array): WireFields {
  return read(bytes, { left: LINES_MAX }, 0)
}

/**
 * Returns the lines of one value.
 * @param value with its length, as the library keeps unknown fields
 */
export function valueLines(tag: Tag, value: Uint8Array): string[] {
  return readValue(new BinaryReader(value), tag, { left: LINES_MAX }, 0)
}

interface Budget {
  left: number
}

/** A Tag says what value follows. */
export interface Tag {
  /** What stands before it in its line. */
  name: string
  number: number
  wireType: WireType
}

function read(bytes: Uint8Array, budget: Budget, depth: number): WireFields {
  const reader = new BinaryReader(bytes)
  const lines: string[] = []
  try {
    while (reader.pos < reader.len) {
      if (budget.left <= 0) return { lines, isWhole: false }
      const [number, wireType] = reader.tag()
      lines.push(...readValue(reader, { name: String(number), number, wireType }, budget, depth))
    }
    return { lines, isWhole: true }
  } catch {
    return { lines, isWhole: false }
  }
}

/** @throws Error when the value is cut, or there is none of this kind */
function readValue(reader: BinaryReader, tag: Tag, budget: Budget, depth: number): string[] {
  budget.left -= 1
  const { name, number, wireType } = tag
  if (wireType === WireType.Varint) return [`${name}: ${reader.uint64()}`]
  if (wireType === WireType.Bit32) return [`${name}: 0x${digitsOf(reader.fixed32(), 8)}`]
  if (wireType === WireType.Bit64) return [`${name}: 0x${digitsOf(reader.fixed64(), 16)}`]
  if (wireType === WireType.LengthDelimited) return bytesLines(name, reader.bytes(), budget, depth)
  const group = reader.skip(wireType, number, DEPTH_MAX)
  return nested(name, group.subarray(0, group.length - tagBytes(number)), budget, depth)
}

function bytesLines(name: string, bytes: Uint8Array, budget: Budget, depth: number): string[] {
  const text = textOf(bytes)
  // Text has no control characters, and a message nearly always has some.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the line ends of a text, too
  if (text !== undefined && !/[\0-\x1f\x7f]/.test(text)) return [`${name}: ${JSON.stringify(text)}`]
  if (depth < DEPTH_MAX) {
    const before = budget.left
    const { lines, isWhole } = read(bytes, budget, depth + 1)
    if (isWhole) return braced(name, lines)
    budget.left = before
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a text has line ends alone
  if (text !== undefined && !/[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/.test(text))
    return [`${name}: ${JSON.stringify(text)}`]
  const digits = hexOf(bytes.subarray(0, HEX_MAX_BYTES))
  const rest = bytes.length > HEX_MAX_BYTES ? ` … (${bytes.length} bytes)` : ''
  return [`${name}: 0x${digits}${rest}`]
}

/** @throws Error when the group is none */
function nested(name: string, bytes: Uint8Array, budget: Budget, depth: number): string[] {
  const { lines, isWhole } = read(bytes, budget, depth + 1)
  if (!isWhole && budget.left > 0) throw new Error('the group is none')
  return braced(name, lines)
}

function braced(name: string, lines: readonly string[]): string[] {
  return [`${name} {`, ...lines.map((line) => `  ${line}`), '}']
}

/** The length of a tag, which is a varint of seven bits a byte. */
function tagBytes(number: number): number {
  let length = 1
  for (let rest = number * 2 ** TAG_BITS; rest >= 0x80; rest /= 0x80) length += 1
  return length
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function digitsOf(value: number | bigint | string, digits: number): string {
  return BigInt(value).toString(16).padStart(digits, '0')
}
