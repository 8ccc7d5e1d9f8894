// gRPC calls behind a sign-in: they keep the direct path, because they end in trailers, which no Response can hold.

import { bodyStream } from '../../exchange/body-stream.ts'
import type {
  DirectExchange,
  DirectHandler,
  DirectlyHandled,
  DirectRequest,
  DirectResponse,
} from '../../exchange/direct.ts'
import { DIRECT } from '../../exchange/direct.ts'
import { toResponse } from '../../exchange/direct-response.ts'
import type { FetchHandler, FetchInfo } from '../../exchange/fetch-handler.ts'
import { buildRequest, makeHeaders } from '../../exchange/fetch-request.ts'
import { NOTHING } from '../../exchange/outgoing-response.ts'
import type { BodyBatch } from '../../exchange/response-body.ts'
import type { Field } from '../../semantics/fields.ts'
import { isGrpc } from '../../semantics/grpc.ts'

/** A Check answers a request, and calls the handler if the visitor may come in. */
export type Check = (handler: FetchHandler, request: Request, info: FetchInfo) => Promise<Response>

const NOTHING_YET: BodyBatch = { pieces: [], size: 0, done: false }

/** Returns the direct path of a handler behind the check, if the handler has one. It begins nothing there before the check. */
export function directBehind(check: Check, handler: DirectlyHandled): DirectHandler | undefined {
  const direct = handler[DIRECT]
  return (
    direct &&
    ((request) => (isGrpc(request.fields) ? new GuardedExchange(check, handler, direct, request) : undefined))
  )
}

class GuardedExchange implements DirectExchange {
  readonly #check: Check
  readonly #handler: FetchHandler
  readonly #direct: DirectHandler
  readonly #request: DirectRequest
  readonly #left = new AbortController()
  /** The response of the direct path, and what the check got for it. */
  #passed: { response: Response; answer: DirectResponse } | undefined

  constructor(check: Check, handler: FetchHandler, direct: DirectHandler, request: DirectRequest) {
    this.#check = check
    this.#handler = handler
    this.#direct = direct
    this.#request = request
  }

  async respond(): Promise<DirectResponse> {
    const { method, url, fields, body } = this.#request
    const head = { method, headers: makeHeaders(fields), signal: this.#left.signal }
    const request = buildRequest(url.href, head, body && bodyStream(body))
    const pass: FetchHandler = (passed, info) => this.#pass(passed, info)
    const response = await this.#check(pass, request, infoOf(this.#request))
    return new CheckedResponse(
      response,
      this.#passed?.response === response ? this.#passed.answer : undefined,
    )
  }

  cancel(reason: unknown): void {
    this.#left.abort(reason)
  }

  /** The content goes to the handler as it came, with its trailers, unless the handler wants a Request. */
  async #pass(passed: Request, info: FetchInfo): Promise<Response> {
    const { signal } = this.#left
    signal.throwIfAborted()
    const exchange = this.#direct({ ...this.#request, fields: [...passed.headers] })
    if (!exchange) return this.#handler(passed, info)
    signal.addEventListener('abort', () => exchange.cancel(signal.reason), { once: true })
    const answer = await exchange.respond()
    const response = toResponse(answer, this.#request.method)
    this.#passed = { answer, response }
    return response
  }
}

/** A CheckedResponse is a response of the check, with the trailers of the handler's if it is that. */
class CheckedResponse implements DirectResponse {
  readonly status: number
  readonly statusText: string
  readonly fields: Field[]
  readonly length: undefined
  readonly #passed: DirectResponse | undefined
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined

  constructor({ status, statusText, headers, body }: Response, passed: DirectResponse | undefined) {
    this.status = status
    this.statusText = statusText
    this.fields = [...headers].filter(([name]) => name !== 'content-length')
    this.#passed = passed
    this.#reader = body?.getReader()
  }

  get trailers(): readonly Field[] | undefined {
    return this.#passed?.trailers
  }

  ready(): BodyBatch {
    return this.#reader ? NOTHING_YET : NOTHING
  }

  async next(): Promise<BodyBatch> {
    const { value } = (await this.#reader?.read()) ?? {}
    return value ? { pieces: [value], size: value.length, done: false } : NOTHING
  }

  cancel(reason: unknown): void {
    this.#reader?.cancel(reason).catch(() => {}) // Nobody reads it any longer.
  }
}

/** Returns what the check needs to know, and a handler that wants a Request. */
function infoOf({ remote, clientCertificate, url }: DirectRequest): FetchInfo {
  return {
    remote,
    clientCertificate,
    canonicalUrl: url.origin,
    // There is nobody to report to on the direct path. A call is no sign-in, whose errors are reported.
    waitUntil: (work) => void Promise.resolve(work).catch(() => {}),
    passThroughOnException() {},
    props: {},
    upgrade() {
      throw new TypeError('a gRPC call is no WebSocket handshake')
    },
  }
}
