// One request on its direct way to the target: with the fields of a proxy, over a kept connection where there is one.

import type { Socket } from 'node:net'
import {
  type DirectExchange,
  type DirectRequest,
  type DirectResponse,
  type Field,
  fieldsForVisitor,
} from '@svc/sdk-core'
import type { TargetConnection } from '../http-client/connection.ts'
import type { ConnectionPool } from '../http-client/connection-pool.ts'
import { type OutgoingRequest, TargetExchange } from '../http-client/exchange.ts'
import { TargetFault } from '../http-client/target-fault.ts'
import { forwardedFields } from './forwarded-fields.ts'
import { KeptBody } from './kept-body.ts'
import type { TargetOrigin, TargetView } from './target-origin.ts'
import { targetPath } from './target-path.ts'
import { textResponse } from './text-response.ts'

/** RFC 9110 §9.2.1. */
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
/** Requests of these methods say so when they have no content (RFC 9110 §8.6): a server might wait for it. */
const USUALLY_WITH_CONTENT: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])
const BAD_GATEWAY = 'The server behind this site does not answer\n'

/** The choice of the view in which the target is asked: that of its `TargetOrigin`, or a fixed one. */
type AnswerIn = TargetOrigin['answer']

interface ForwardingOptions {
  target: URL
  pool: ConnectionPool
  /** Called with the error of a target that does not answer; the visitor then gets 502. */
  report(cause: unknown): void
  /** True when the request may be sent more than once. */
  mayRepeat: boolean
  answerIn: AnswerIn
}

export class ForwardedExchange implements DirectExchange {
  readonly #asked: DirectRequest
  readonly #options: ForwardingOptions
  readonly #kept: KeptBody | undefined
  readonly #exchanges: TargetExchange[] = []
  #opening: Socket | undefined
  #cancelled: { reason: unknown } | undefined

  constructor(request: DirectRequest, options: ForwardingOptions) {
    this.#asked = request
    this.#options = options
    if (request.body && options.mayRepeat) this.#kept = new KeptBody(request.body)
  }

  async respond(): Promise<DirectResponse> {
    const { answerIn, report } = this.#options
    const drop = (answer: DirectResponse): void => answer.cancel(new Error('another answer was taken'))
    try {
      return await answerIn(this.#asked, (view) => this.#askIn(view), drop)
    } catch (cause) {
      if (this.#cancelled) throw this.#cancelled.reason
      if (this.#exchanges.at(-1)?.hasBrokenBody) throw cause
      report(cause)
      return badGateway(cause)
    }
  }

  cancel(reason: unknown): void {
    this.#cancelled ??= { reason }
    this.#opening?.destroy()
    for (const exchange of this.#exchanges) exchange.cancel(reason)
  }

  /** @returns undefined when the request was sent, and cannot be sent again */
  #askIn(view: TargetView): Promise<DirectResponse> | undefined {
    const isAgain = this.#exchanges.length > 0
    const body = isAgain ? this.#kept?.again() : (this.#kept ?? this.#asked.body)
    if (isAgain && this.#asked.body && !body) return undefined
    return this.#ask(encodeRequest({ ...this.#asked, body }, this.#options.target, view))
  }

  async #ask(request: OutgoingRequest): Promise<DirectResponse> {
    if (this.#cancelled) throw this.#cancelled.reason
    const { pool } = this.#options
    const kept = pool.take()
    if (kept) {
      try {
        return await this.#run(kept, request)
      } catch (error) {
        // The target closed the kept connection at the very moment at which it was used again.
        const mayRepeat = this.#exchanges.at(-1)!.isUnheard && !request.body && SAFE.has(request.method)
        if (!mayRepeat || this.#cancelled) throw error
      }
    }
    const connection = await pool.open((socket) => {
      this.#opening = socket
    })
    this.#opening = undefined
    return this.#run(connection, request)
  }

  #run(connection: TargetConnection, request: OutgoingRequest): Promise<DirectResponse> {
    const exchange = new TargetExchange(connection, this.#options.pool, request)
    this.#exchanges.push(exchange)
    return exchange.run()
  }
}

/** The answer of a site whose target does not answer, or with a fault. */
export function badGateway(cause: unknown): DirectResponse {
  return textResponse(502, cause instanceof TargetFault ? cause.visitorText : BAD_GATEWAY)
}

function encodeRequest(
  { method, url, target: sent, version, fields: asked, body, inform }: DirectRequest,
  target: URL,
  view: TargetView,
): OutgoingRequest {
  const fields = forwardedFields(asked, view)
  let head = `${method} ${targetPath(target, url, sent)} HTTP/1.1\r\n`
  let hasLength = false
  for (const [name, value, written] of fields) {
    head += `${written ?? name}: ${value}\r\n`
    if (name === 'content-length') hasLength = true
  }
  const isChunked = body !== undefined && !hasLength
  if (isChunked) head += 'Transfer-Encoding: chunked\r\n'
  else if (!hasLength && USUALLY_WITH_CONTENT.has(method)) head += 'Content-Length: 0\r\n'
  const expectsContinue = body !== undefined && asked.some(([name]) => name === 'expect')
  if (expectsContinue) head += 'Expect: 100-continue\r\n'
  const readFields = (answered: Field[]): Field[] => fieldsForVisitor(answered, view)
  return {
    method,
    path: url.pathname,
    head: `${head}\r\n`,
    body,
    isChunked,
    expectsContinue,
    inform: version === '1.0' ? undefined : inform,
    readFields,
  }
}
