// Writes a Response as the bytes of HTTP/1.1: status line, header section, framing of the body (RFC 9112 §4, §6, §7).

import { concat } from '../bytes/concat.ts'
import { encodeLatin1 } from '../bytes/latin1.ts'
import type { DeadlineWriter } from '../exchange/deadline-writer.ts'
import type { OutgoingResponse } from '../exchange/outgoing-response.ts'
import type { BodyBatch } from '../exchange/response-body.ts'
import type { Field } from '../semantics/fields.ts'
import { WRITE_BYTES } from '../semantics/limits.ts'
import { reasonPhrase } from '../semantics/reason-phrases.ts'
import type { RequestHead } from '../semantics/request-head.ts'

const EMPTY = new Uint8Array(0)
const CRLF: Uint8Array = encodeLatin1('\r\n')
const LAST_CHUNK: Uint8Array = encodeLatin1('0\r\n\r\n')

/**
 * What marks the end of the body: the length in the head, the chunked coding, or the end of the connection.
 */
type Framing = 'head' | 'chunked' | 'close'

/** Returns a status line and fields, with names unchanged. The empty line must follow. */
export function headText(status: number, reason: string, fields: readonly Field[]): string {
  let text = `HTTP/1.1 ${status} ${reason}\r\n`
  for (const [name, value, written] of fields) text += `${written ?? name}: ${value}\r\n`
  return text
}

export class Http1ResponseWriter {
  readonly #outgoing: OutgoingResponse
  readonly #version: RequestHead['version']
  readonly #framing: Framing

  constructor(outgoing: OutgoingResponse, version: RequestHead['version']) {
    this.#outgoing = outgoing
    this.#version = version
    const streamed = version === '1.1' ? 'chunked' : 'close'
    this.#framing = outgoing.isEmpty || outgoing.length !== undefined ? 'head' : streamed
  }

  /**
   * True when another response can follow: this one has a visible end, and the handler did not say `close`.
   */
  get isReusable(): boolean {
    return this.#framing !== 'close' && !this.#outgoing.isLast
  }

  /**
   * Sends the response, and pulls its body as fast as `writer` accepts it.
   * @param last the value of Connection when no other response follows; otherwise false
   * @throws the error of the body or the connection; the visitor then has an incomplete response
   */
  async send(writer: DeadlineWriter, last: string | false): Promise<void> {
    let head = this.#encodeHead(last)
    for await (const batch of this.#outgoing.batches()) {
      for (const frame of this.#frames(head, batch)) await writer.write(frame)
      head = EMPTY
    }
  }

  #encodeHead(last: string | false): Uint8Array {
    const { status, statusText, fields } = this.#outgoing
    let text = headText(status, statusText || reasonPhrase(status), fields)
    if (this.#framing === 'chunked') text += 'transfer-encoding: chunked\r\n'
    if (last) text += `connection: ${last}\r\n`
    else if (this.#version === '1.0') text += 'connection: keep-alive\r\n'
    return encodeLatin1(`${text}\r\n`)
  }

  *#frames(head: Uint8Array, { pieces, size, done }: BodyBatch): Generator<Uint8Array> {
    const end = done && this.#framing === 'chunked' ? LAST_CHUNK : EMPTY
    const [piece] = pieces
    if (size <= WRITE_BYTES || !piece) {
      const frame = concat([head, ...this.#chunk(pieces, size), end])
      if (frame.length > 0) yield frame
      return
    }
    for (let at = 0; at < size; at += WRITE_BYTES) {
      const part = piece.subarray(at, at + WRITE_BYTES)
      const isLast = at + part.length === size
      yield concat([at === 0 ? head : EMPTY, ...this.#chunk([part], part.length), isLast ? end : EMPTY])
    }
  }

  #chunk(pieces: Uint8Array[], size: number): Uint8Array[] {
    // A chunk of no octets would end the body.
    if (this.#framing !== 'chunked' || size === 0) return pieces
    return [encodeLatin1(`${size.toString(16)}\r\n`), ...pieces, CRLF]
  }
}
