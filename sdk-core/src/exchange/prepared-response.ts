// The handler's Response, prepared for any HTTP version: its fields, its length, and its content in batches.

import type { Field } from '../semantics/fields.ts'
import { HttpError } from '../semantics/http-error.ts'
import { WRITE_BYTES } from '../semantics/limits.ts'
import { blobLengths } from './fetch-request.ts'
import { completed, hasNoContent, NOTHING, type OutgoingResponse } from './outgoing-response.ts'
import { type BodyBatch, ResponseBody } from './response-body.ts'

/** The SDK sets the connection's fields (RFC 9110 §7.6.1) itself, and sends a length only after a check. */
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

export class PreparedResponse implements OutgoingResponse {
  readonly isEmpty: boolean
  readonly length: number | undefined
  hsts: string | undefined
  readonly #response: Response
  readonly #body: ResponseBody | undefined
  readonly #first: BodyBatch

  private constructor(
    response: Response,
    isEmpty: boolean,
    length: number | undefined,
    content: ResponseBody | undefined,
    first: BodyBatch,
  ) {
    this.#response = response
    this.isEmpty = isEmpty
    this.length = length
    this.#body = content
    this.#first = first
  }

  /**
   * Prepares a response with what its body has ready: a body that ends at once gets a Content-Length and is sent with
   * the head in one write. A body that is not ready does not delay the head (server-sent events).
   * @param method the request's method, if that much could be parsed
   * @param broken rejects when the connection breaks while the SDK waits for the content; needless for content that is ready
   * @throws any error in the response, while a 500 can still be sent instead
   */
  static async prepare(
    response: Response,
    method: string | undefined,
    broken: Promise<never> = new Promise(() => {}),
  ): Promise<PreparedResponse> {
    if (response.status < 200) throw new TypeError('An error response cannot be sent')
    if (response.bodyUsed) throw new TypeError('The Response was already used: return a clone')
    const lazy = await loadLazy(response, method)
    const declared =
      declaredLength(response) ??
      blobLengths.get(response.body!) ??
      (await lazy?.prepareLazily(response, method))
    if (hasNoContent(response.status, method)) {
      response.body?.cancel().catch(() => {}) // Ignores a failed clean-up of the handler.
      const length = response.status === 204 ? undefined : declared
      return new PreparedResponse(response, true, length, undefined, NOTHING)
    }
    if (!response.body) return PreparedResponse.#withContent(response, declared, undefined, NOTHING)
    const content = new ResponseBody(response.body)
    try {
      const isEncoded = lazy !== undefined && !isFetched(response)
      const first = await Promise.race([content.ready(waitedFor(declared, isEncoded)), broken])
      if (isEncoded) lazy.requireEncoded(response.headers, first.pieces[0])
      return PreparedResponse.#withContent(response, declared, content, first)
    } catch (error) {
      content.cancel(error)
      throw error
    }
  }

  static #withContent(
    response: Response,
    declared: number | undefined,
    content: ResponseBody | undefined,
    first: BodyBatch,
  ): PreparedResponse {
    const length = declared ?? (first.done ? first.size : undefined)
    checkLength(first.size, first.done, length)
    return new PreparedResponse(response, false, length, content, first)
  }

  get status(): number {
    return this.#response.status
  }

  get statusText(): string {
    return this.#response.statusText
  }

  get isLast(): boolean {
    const options = this.#response.headers.get('connection')?.toLowerCase().split(',') ?? []
    return options.some((option) => option.trim() === 'close')
  }

  get fields(): Field[] {
    const fields: Field[] = []
    // A page's Response drops Set-Cookie, so one that sets cookies has unguarded Headers as its `headers` property.
    for (const field of this.#response.headers) if (!this.#isOurs(field[0])) fields.push(field)
    return completed(fields, this)
  }

  async *batches(): AsyncGenerator<BodyBatch, void> {
    let batch = this.#first
    for (let sent = 0; ; batch = await this.#body!.next()) {
      sent += batch.size
      if (!this.isEmpty) checkLength(sent, batch.done, this.length)
      yield batch
      if (batch.done) return
    }
  }

  cancel(reason: unknown): void {
    this.#body?.cancel(reason)
  }

  #isOurs(name: string): boolean {
    return OURS.has(name) || (name === 'content-encoding' && isFetched(this.#response))
  }
}

/**
 * Compares the number of bytes with a known length.
 * @throws HttpError `content_length_mismatch` when there are more, or fewer at the end
 */
function checkLength(given: number, done: boolean, length: number | undefined): void {
  if (length === undefined) return
  if (given > length || (done && given < length)) throw new HttpError('content_length_mismatch')
}

/**
 * Returns the number of content bytes for which the head waits. So the SDK finds a wrong length, and content that is not encoded as
 * the head says, while it can still send a 500, even if the platform is slow to deliver ready content.
 */
function waitedFor(declared: number = WRITE_BYTES, isEncoded: boolean): number {
  return declared < WRITE_BYTES ? declared || 1 : Number(isEncoded)
}

/** Loads the code for HEAD, redirects and encoded content. A service worker cannot load it and works without it. */
function loadLazy(
  { headers }: Response,
  method: string | undefined,
): Promise<typeof import('./lazy.ts') | undefined> | undefined {
  if (method === 'HEAD' || headers.has('location') || headers.has('content-encoding'))
    return import('./lazy.ts').catch(() => undefined)
}

function declaredLength(response: Response): number | undefined {
  const text = response.headers.get('content-length')
  if (text === null || isFetched(response)) return undefined
  if (!/^\d{1,15}$/.test(text)) throw new HttpError('content_length_mismatch')
  return Number(text)
}

/**
 * Returns whether `fetch` made the response. Then its content is decoded, and its Content-Encoding and Content-Length do
 * not fit.
 */
function isFetched(response: Response): boolean {
  return response.type !== 'default'
}
