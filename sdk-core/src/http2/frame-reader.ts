// Reads frames from the visitor's bytes: the preface, then headers with whole payloads (RFC 9113 §3.4, §4.1).

import { concat } from '../bytes/concat.ts'
import { encodeLatin1 } from '../bytes/latin1.ts'
import { Http2Error } from './errors.ts'
import { type Frame, HEADER_BYTES, SETTINGS, uint31 } from './frame.ts'
import { FRAME_BYTES } from './limits.ts'

const PREFACE: Uint8Array = encodeLatin1('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

export class FrameReader {
  /** The unread bytes: less than a frame, after `next` returned undefined. */
  #bytes: Uint8Array = new Uint8Array(0)
  /** The number of preface octets received. */
  #preface = 0
  #isFirst = true

  push(bytes: Uint8Array): void {
    this.#bytes = concat([this.#bytes, bytes])
  }

  /** True when the preface with its SETTINGS was read. */
  get hasBegun(): boolean {
    return !this.#isFirst
  }

  /**
   * Returns the next frame, whose payload is a view into the pushed bytes. Undefined while the frame is incomplete.
   * @throws Http2Error
   */
  next(): Frame | undefined {
    if (!this.#skipPreface() || this.#bytes.length < HEADER_BYTES) return undefined
    const bytes = this.#bytes
    const length = (bytes[0]! << 16) | (bytes[1]! << 8) | bytes[2]!
    if (length > FRAME_BYTES) throw new Http2Error('invalid_frame_size')
    const type = bytes[3]!
    const flags = bytes[4]!
    // The preface includes a SETTINGS frame without ACK (§3.4).
    if (this.#isFirst && (type !== SETTINGS || flags & 1)) throw new Http2Error('invalid_preface')
    const end = HEADER_BYTES + length
    if (bytes.length < end) return undefined
    this.#isFirst = false
    this.#bytes = bytes.subarray(end)
    return { type, flags, streamId: uint31(bytes, 5), payload: bytes.subarray(HEADER_BYTES, end) }
  }

  #skipPreface(): boolean {
    const { length } = PREFACE
    if (this.#preface === length) return true
    const here = this.#bytes.subarray(0, length - this.#preface)
    for (const octet of here) if (octet !== PREFACE[this.#preface++]) throw new Http2Error('invalid_preface')
    this.#bytes = this.#bytes.subarray(here.length)
    return this.#preface === length
  }
}
