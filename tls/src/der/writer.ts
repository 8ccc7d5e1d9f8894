// Writes DER (X.690 §10).

import * as DER_TAG from './tags.ts'

/** Encodes an element whose content is the concatenation of `parts`. */
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
