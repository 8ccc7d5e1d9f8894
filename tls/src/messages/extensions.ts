// Reads the extension block of hellos, EncryptedExtensions and certificates (RFC 8446 §4.2).

import { HANDSHAKE_HEADER_BYTES } from './constants.ts'
import { DecodeError } from './errors.ts'
import { Reader } from './reader.ts'

/** Extensions maps each type to the extension's body, in wire order. */
export type Extensions = Map<number, Uint8Array>

/**
 * Reads a block.
 * @throws DecodeError on a duplicate (§4.2: at most one of each type in a block)
 */
export function readExtensions(reader: Reader, what: string): Extensions {
  const block = new Reader(reader.vector(2), `${what} extensions`)
  const extensions: Extensions = new Map()
  while (!block.done) {
    const type = block.u16()
    const body = block.vector(2)
    if (extensions.has(type))
      throw new DecodeError('illegal_parameter', `${what} has extension ${type} twice`)
    extensions.set(type, body)
  }
  return extensions
}

/** Checks type and length of a whole message, and returns a reader behind its header. */
export function openMessage(message: Uint8Array, type: number, what: string): Reader {
  const reader = new Reader(message, what)
  if (reader.u8() !== type) throw new DecodeError('unexpected_message', `not a ${what}`)
  if (reader.u24() !== message.length - HANDSHAKE_HEADER_BYTES)
    throw new DecodeError('decode_error', `${what} is not as long as its header says`)
  return reader
}
