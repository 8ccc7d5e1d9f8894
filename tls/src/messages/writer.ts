// Builds messages: big-endian integers and length-prefixed vectors (RFC 8446 §3).

import { HANDSHAKE_HEADER_BYTES } from './constants.ts'

export function concat(...parts: Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let offset = 0
  for (const part of parts) {
    whole.set(part, offset)
    offset += part.length
  }
  return whole
}

export function u8(value: number): Uint8Array {
  return integer(1, value)
}

export function u16(value: number): Uint8Array {
  return integer(2, value)
}

export function u24(value: number): Uint8Array {
  return integer(3, value)
}

export function u32(value: number): Uint8Array {
  return integer(4, value)
}

/** Joins the parts behind their common length in `width` bytes. */
export function vector(width: 1 | 2 | 3, ...parts: Uint8Array[]): Uint8Array {
  const body = concat(...parts)
  if (body.length >= 256 ** width) throw new RangeError(`${body.length} bytes do not fit a vector`)
  return concat(integer(width, body.length), body)
}

/** Encodes an `Extension` (RFC 8446 §4.2). */
export function extension(type: number, ...body: Uint8Array[]): Uint8Array {
  return concat(u16(type), vector(2, ...body))
}

/** Encodes a `Handshake` (RFC 8446 §4): the message with its header. */
export function handshakeMessage(type: number, ...body: Uint8Array[]): Uint8Array {
  const message = concat(new Uint8Array(HANDSHAKE_HEADER_BYTES), ...body)
  new DataView(message.buffer).setUint32(0, message.length - HANDSHAKE_HEADER_BYTES)
  message[0] = type
  return message
}

function integer(width: number, value: number): Uint8Array {
  const bytes = new Uint8Array(width)
  for (let at = width - 1, rest = value; at >= 0; at--, rest = Math.floor(rest / 256)) bytes[at] = rest
  return bytes
}
