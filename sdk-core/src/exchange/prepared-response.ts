// The handler's Response, prepared for any version of HTTP: its fields, its length, and its content in batches.

import type { Field } from '../semantics/fields.ts'
import { HttpError } from '../semantics/http-error.ts'
import { completed, hasNoContent, NOTHING, type OutgoingResponse } from './outgoing-response.ts'
import { type BodyBatch, ResponseBody } from './response-body.ts'

/** The SDK sets the fields about the connection (RFC 9110 §7.6.1), and checks the length before it sends one. */
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
   * Prepares a response with what its body has ready: a body that ends at once gets a Content-Length and leaves with
   * the head in one write. A body that is not ready does not hold the head back (server-sent events).
   * @param method the request's method
   * @throws any error in the response, while a 500 can be sent in its place
   */
  static async prepare(response: Response, method: string): Promise<PreparedResponse> {
    if (response.status < 200) throw new TypeError('An error response cannot be sent')
    const declared = declaredLength(response) ?? (await seldomLength(response, method))
    if (hasNoContent(response.status, method)) {
      response.body?.cancel().catch(() => {}) // The rejection is the handler's own clean-up failing.
      const length = response.status === 204 ? undefined : declared
      return new PreparedResponse(response, true, length, undefined, NOTHING)
    }
    if (!response.body) return PreparedResponse.#withContent(response, declared, undefined, NOTHING)
    const content = new ResponseBody(response.body)
    try {
      return PreparedResponse.#withContent(response, declared, content, await content.ready())
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
 * Checks the octets against a known length.
 * @throws HttpError `content_length_mismatch` when there are more, or at the end fewer
 */
function checkLength(given: number, done: boolean, length: number | undefined): void {
  if (length === undefined) return
  if (given > length || (done && given < length)) throw new HttpError('content_length_mismatch')
}

/** Loads the code for HEAD and for redirects. A service worker cannot load it, and does without. */
function seldomLength(response: Response, method: string): Promise<number | undefined> | undefined {
  if (method === 'HEAD' || response.headers.has('location'))
    return import('./seldom.ts').then(
      ({ prepareSeldom }) => prepareSeldom(response, method),
      () => undefined,
    )
}

function declaredLength(response: Response): number | undefined {
  const text = response.headers.get('content-length')
  if (text === null || isFetched(response)) return undefined
  if (!/^\d{1,15}$/.test(text)) throw new HttpError('content_length_mismatch')
  return Number(text)
}

/**
 * Says whether `fetch` made the response. Its content is then decoded, and its Content-Encoding and Content-Length do
 * not fit.
 */
function isFetched(response: Response): boolean {
  return response.type !== 'default'
}
