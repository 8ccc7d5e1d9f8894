// From the handler's Response to bytes: status line, header section and the framing of the body (RFC 9112 §4, §6, §7).

import { concat } from './bytes.ts'
import { Content, type Group } from './content.ts'
import { httpDate } from './date.ts'
import { HttpError } from './errors.ts'
import type { Head } from './head.ts'
import { encodeLatin1 } from './latin1.ts'
import { WRITE_BYTES } from './limits.ts'
import type { Output } from './output.ts'
import { reasonOf } from './reason.ts'

/** Fields about the connection, which is ours to manage (RFC 9110 §7.6.1), and the length, which is checked first. */
const OURS = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
const NOTHING: Group = { pieces: [], size: 0, done: true }
const EMPTY = new Uint8Array(0)
const CRLF: Uint8Array = encodeLatin1('\r\n')
const LAST_CHUNK: Uint8Array = encodeLatin1('0\r\n\r\n')

/** How the visitor sees where the body ends: there is none, by Content-Length, by the chunked coding, by our closing. */
type Framing = 'none' | 'length' | 'chunked' | 'close'

export class Reply {
  readonly #response: Response
  readonly #head: Head
  readonly #framing: Framing
  /** The Content-Length to send. */
  readonly #length: number | undefined
  readonly #content: Content | undefined
  readonly #first: Group

  private constructor(
    response: Response,
    head: Head,
    framing: Framing,
    length: number | undefined,
    content: Content | undefined,
    first: Group,
  ) {
    this.#response = response
    this.#head = head
    this.#framing = framing
    this.#length = length
    this.#content = content
    this.#first = first
  }

  /**
   * Looks at what the body has ready: a body that ends at once gets a Content-Length and leaves with the head in one
   * write. A body that is not ready does not hold the head back (server-sent events).
   * @throws whatever is wrong with the response, while a 500 can be sent in its place
   */
  static async prepare(response: Response, head: Head): Promise<Reply> {
    if (response.status < 200) throw new TypeError('An error response cannot be sent')
    const declared = declaredLength(response)
    if (head.method === 'HEAD' || response.status === 204 || response.status === 304) {
      response.body?.cancel().catch(() => {}) // the handler's own clean-up
      const length = response.status === 204 ? undefined : declared
      return new Reply(response, head, 'none', length, undefined, NOTHING)
    }
    if (!response.body) return Reply.#framed(response, head, declared, undefined, NOTHING)
    const content = new Content(response.body)
    try {
      return Reply.#framed(response, head, declared, content, await content.ready())
    } catch (error) {
      content.cancel(error)
      throw error
    }
  }

  static #framed(
    response: Response,
    head: Head,
    declared: number | undefined,
    content: Content | undefined,
    first: Group,
  ): Reply {
    const length = declared ?? (first.done ? first.size : undefined)
    checkLength(first.size, first.done, length)
    const streamed = head.version === '1.1' ? 'chunked' : 'close'
    return new Reply(response, head, length === undefined ? streamed : 'length', length, content, first)
  }

  /** Whether another response can follow: the visitor sees the end of this one, and the handler did not say `close`. */
  get isReusable(): boolean {
    const options = this.#response.headers.get('connection')?.toLowerCase().split(',') ?? []
    return this.#framing !== 'close' && !options.some((option) => option.trim() === 'close')
  }

  /**
   * Pulls the body as fast as `output` takes it.
   * @throws what the body or the connection failed with; the visitor then has an incomplete response
   */
  async send(output: Output, persistent: boolean): Promise<void> {
    let head = this.#encodeHead(persistent)
    let group = this.#first
    let sent = 0
    for (;;) {
      sent += group.size
      if (this.#framing === 'length') checkLength(sent, group.done, this.#length)
      for (const frame of this.#frames(head, group)) await output.write(frame)
      if (group.done || !this.#content) return
      head = EMPTY
      group = await this.#content.next()
    }
  }

  /** Tells the handler that the rest of the body will not be read. */
  cancel(reason: unknown): void {
    this.#content?.cancel(reason)
  }

  #encodeHead(persistent: boolean): Uint8Array {
    const { status, statusText, headers } = this.#response
    let text = `HTTP/1.1 ${status} ${statusText || reasonOf(status)}\r\n`
    // Each Set-Cookie is an entry of its own. A page's Response drops them, so one that sets cookies brings, as its
    // `headers` property, unguarded Headers.
    for (const [name, value] of headers) if (!this.#isOurs(name)) text += `${name}: ${value}\r\n`
    if (!headers.has('date')) text += `date: ${httpDate()}\r\n`
    if (this.#framing === 'chunked') text += 'transfer-encoding: chunked\r\n'
    if (this.#length !== undefined) text += `content-length: ${this.#length}\r\n`
    if (!persistent) text += 'connection: close\r\n'
    else if (this.#head.version === '1.0') text += 'connection: keep-alive\r\n'
    return encodeLatin1(`${text}\r\n`)
  }

  #isOurs(name: string): boolean {
    return OURS.has(name) || (name === 'content-encoding' && isFetched(this.#response))
  }

  *#frames(head: Uint8Array, { pieces, size, done }: Group): Generator<Uint8Array> {
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

/** @throws HttpError `content_length_mismatch` when a length is known and more was, or at the end less was, given */
function checkLength(given: number, done: boolean, length: number | undefined): void {
  if (length === undefined) return
  if (given > length || (done && given < length)) throw new HttpError('content_length_mismatch')
}

function declaredLength(response: Response): number | undefined {
  const text = response.headers.get('content-length')
  if (text === null || isFetched(response)) return undefined
  if (!/^\d{1,15}$/.test(text)) throw new HttpError('content_length_mismatch')
  return Number(text)
}

/** A response of `fetch`, handed on: its content is decoded, its Content-Encoding and Content-Length are from before. */
function isFetched(response: Response): boolean {
  return response.type !== 'default'
}
