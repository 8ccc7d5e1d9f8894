// Reads a ClientHello, fragmented or not, from the first raw TLS records of a connection.

import { MessageAssembler } from './assembler.ts'
import { CONTENT_TYPE, HANDSHAKE_TYPE, RECORD_FRAGMENT_MAX_BYTES, RECORD_HEADER_BYTES } from './constants.ts'
import { DecodeError } from './errors.ts'

/**
 * ClientHelloReader reads every byte once, in any chunking. It keeps only the message: the caller replays the
 * rest.
 */
export class ClientHelloReader {
  readonly #maxBytes: number
  readonly #assembler = new MessageAssembler()
  readonly #header = new Uint8Array(RECORD_HEADER_BYTES)
  #headerBytes = 0
  #fragmentBytesLeft = 0
  #seen = 0
  #message: Uint8Array | undefined

  /** @param options `maxBytes` bounds the ClientHello with its record headers */
  constructor(options: { maxBytes: number }) {
    this.#maxBytes = options.maxBytes
  }

  /**
   * Reads bytes.
   * @returns the whole ClientHello message with its 4-byte header, once it is complete; later bytes are ignored
   * @throws DecodeError `not_tls`, `not_client_hello` or `too_large`, at the first byte that shows it
   */
  push(bytes: Uint8Array): Uint8Array | undefined {
    let offset = 0
    while (this.#message === undefined && offset < bytes.length) {
      const taken =
        this.#fragmentBytesLeft > 0
          ? this.#fragment(bytes.subarray(offset))
          : this.#headerByte(bytes[offset]!)
      offset += taken
      this.#seen += taken
      if (this.#message === undefined && this.#seen >= this.#maxBytes)
        throw new DecodeError('illegal_parameter', `a ClientHello over ${this.#maxBytes} bytes`, 'too_large')
    }
    return this.#message
  }

  #headerByte(byte: number): 1 {
    const at = this.#headerBytes
    this.#header[at] = byte
    if ((at === 0 && byte !== CONTENT_TYPE.handshake) || (at === 1 && byte !== 3))
      throw new DecodeError('unexpected_message', 'not a TLS handshake record', 'not_tls')
    this.#headerBytes = (at + 1) % RECORD_HEADER_BYTES
    if (this.#headerBytes === 0) {
      const length = (this.#header[3]! << 8) | this.#header[4]!
      if (length > RECORD_FRAGMENT_MAX_BYTES)
        throw new DecodeError('record_overflow', `a record of ${length} bytes`, 'too_large')
      if (length === 0) throw new DecodeError('unexpected_message', 'an empty handshake record', 'not_tls')
      this.#fragmentBytesLeft = length
    }
    return 1
  }

  #fragment(bytes: Uint8Array): number {
    const fragment = bytes.subarray(0, this.#fragmentBytesLeft)
    this.#fragmentBytesLeft -= fragment.length
    this.#assembler.push(fragment)
    if (this.#assembler.type !== HANDSHAKE_TYPE.client_hello)
      throw new DecodeError('unexpected_message', 'the first message is no ClientHello', 'not_client_hello')
    this.#message = this.#assembler.shift(this.#maxBytes)
    return fragment.length
  }
}
