// Compresses messages separately (RFC 7692 §7.2). It is loaded when a visitor has negotiated it.

import { Deflate, Inflate, Z_OK, Z_SYNC_FLUSH } from 'pako'
import { concat } from '../bytes/concat.ts'
import { WebSocketError } from './errors.ts'

/** The empty block that ends each flush, and is not sent (§7.2.1). */
const FLUSHED: Uint8Array = Uint8Array.of(0x00, 0x00, 0xff, 0xff)
/** An empty last block: the inflater ends only if everything before it was valid. */
const LAST: Uint8Array = Uint8Array.of(0x03, 0x00)

/** MessageCompression compresses and decompresses the messages of a socket. */
export interface MessageCompression {
  /** @returns the payload of the frame */
  deflate(message: Uint8Array): Uint8Array
  /**
   * Returns a message.
   * @param maxBytes the longest message
   * @throws WebSocketError `message_too_big` before more than that is kept, `invalid_compression`
   */
  inflate(payload: Uint8Array, maxBytes: number): Uint8Array<ArrayBuffer>
}

/** @param windowBits the exponent of the window for compressing, 9 to 15 (§7.1.2.1) */
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

/** Joins pieces in a new ArrayBuffer, which the handler may get. */
function join(pieces: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
