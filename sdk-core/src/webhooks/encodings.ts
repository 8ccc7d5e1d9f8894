// Signatures and keys as text.

import { fromBase64 } from '../bytes/base64.ts'

const HEX = /^(?:[\da-f]{2})+$/i

/** @returns undefined when `text` is not pairs of hexadecimal digits */
export function fromHex(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!HEX.test(text)) return undefined
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
}

/** @returns undefined when `text` is not base64 of at least one byte */
export function fromBase64Text(text: string): Uint8Array<ArrayBuffer> | undefined {
  const bytes = fromBase64(text)
  return bytes && bytes.length > 0 ? bytes : undefined
}
