// gRPC calls behind `access`: they keep the direct path, because they end in trailers, which no Response can hold.

import type {
  DirectExchange,
  DirectHandler,
  DirectlyHandled,
  DirectRequest,
  DirectResponse,
} from '../exchange/direct.ts'
import { DIRECT } from '../exchange/direct.ts'
import { toResponse } from '../exchange/direct-response.ts'
import type { FetchHandler, FetchInfo } from '../exchange/fetch-handler.ts'
import { buildRequest, makeHeaders } from '../exchange/fetch-request.ts'
import { NOTHING } from '../exchange/outgoing-response.ts'
import type { BodyBatch } from '../exchange/response-body.ts'
import type { Field } from '../semantics/fields.ts'
import { isGrpc } from '../semantics/grpc.ts'

/** A Check answers a request, and calls the handler if the visitor may come in. */
export type Check = (handler: FetchHandler, request: Request, info: FetchInfo) => Promise<Response>

const NOTHING_YET: BodyBatch = { pieces: [], size: 0, done: false }

/** Returns the direct path of a handler behind the check, if the handler has one. */
export function directBehind(check: Check, handler: DirectlyHandled): DirectHandler | undefined {
  const direct = handler[DIRECT]
  // What the handler does not answer directly has a Request, which the check gets as it is.
  return (
    direct &&
    ((request) =>
      isGrpc(request.fields) && direct(request) ? new GuardedExchange(check, direct, request) : undefined)
  )
}

class GuardedExchange implements DirectExchange {
  readonly #check: Check
  readonly #direct: DirectHandler
  readonly #request: DirectRequest
  readonly #left = new AbortController()

  constructor(check: Check, direct: DirectHandler, request: DirectRequest) {
    this.#check = check
    this.#direct = direct
    this.#request = request
  }

  async respond(): Promise<DirectResponse> {
    const { method, url, fields } = this.#request
    let made: { response: Response; answer: DirectResponse } | undefined
    const pass: FetchHandler = async ({ headers }) => {
      const answer = await this.#pass([...headers])
      made = { answer, response: toResponse(answer, method) }
      return made.response
    }
    // The check decides by the head. The content goes to the handler as it came, with its trailers.
    const head = { method, headers: makeHeaders(fields), signal: this.#left.signal }
    const response = await this.#check(pass, buildRequest(url.href, head, undefined), infoOf(this.#request))
    return new CheckedResponse(response, made?.response === response ? made.answer : undefined)
  }

  cancel(reason: unknown): void {
    this.#left.abort(reason)
  }

  async #pass(fields: readonly Field[]): Promise<DirectResponse> {
    const { signal } = this.#left
    signal.throwIfAborted()
    const exchange = this.#direct({ ...this.#request, fields })!
    signal.addEventListener('abort', () => exchange.cancel(signal.reason), { once: true })
    return exchange.respond()
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

/** Returns what the check needs to know. The handler on the direct path gets none of it. */
function infoOf({ remote, clientCertificate }: DirectRequest): FetchInfo {
  return {
    remote,
    clientCertificate,
    canonicalUrl: '',
    // A call is not a sign-in, whose errors are reported.
    waitUntil: (work) => void Promise.resolve(work).catch(() => {}),
    passThroughOnException() {},
    props: {},
    upgrade() {
      throw new TypeError('a gRPC call is no WebSocket handshake')
    },
  }
}
