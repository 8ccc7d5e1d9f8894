// Messages compressed one by one (RFC 7692 §7.2): nothing is kept between them. Loaded when a visitor agreed on it.

import { Deflate, Inflate, Z_OK, Z_SYNC_FLUSH } from 'pako'
import { concat } from '../bytes/concat.ts'
import { WebSocketError } from './errors.ts'

/** §7.2.1: the empty block behind each flush, which is not sent. */
const FLUSHED: Uint8Array = Uint8Array.of(0x00, 0x00, 0xff, 0xff)
/** An empty last block: the inflater comes to its end only if all before it made sense. */
const LAST: Uint8Array = Uint8Array.of(0x03, 0x00)

/** What a socket does with messages while they are compressed on the wire. */
export interface MessageCompression {
  /** @returns the payload of the frame */
  deflate(message: Uint8Array): Uint8Array
  /**
   * @param maxBytes of the message
   * @throws WebSocketError `message_too_big` before more than that is kept, `invalid_compression`
   */
  inflate(payload: Uint8Array, maxBytes: number): Uint8Array<ArrayBuffer>
}

/** @param windowBits exponent of the window that is used for what is sent, 9 to 15 (§7.1.2.1) */
export function messageCompression(windowBits: number): MessageCompression {
  return {
    deflate(message) {
      const pieces: Uint8Array[] = []
      const deflater = new Deflate({ raw: true, windowBits })
      deflater.onData = (piece) => void pieces.push(piece)
      deflater.push(message, Z_SYNC_FLUSH)
      return concat(pieces).subarray(0, -FLUSHED.length)
    },

    inflate(payload, maxBytes) {
      const pieces: Uint8Array[] = []
      let length = 0
      const inflater = new Inflate({ raw: true })
      inflater.onData = (piece) => {
        length += piece.length
        if (length > maxBytes) throw new WebSocketError('message_too_big')
        pieces.push(piece)
      }
      for (const part of [payload, FLUSHED, LAST]) inflater.push(part, Z_SYNC_FLUSH)
      if (!inflater.ended || inflater.err !== Z_OK) throw new WebSocketError('invalid_compression')
      return join(pieces, length)
    },
  }
}

/** In an ArrayBuffer of its own, which the handler may get. */
function join(pieces: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
