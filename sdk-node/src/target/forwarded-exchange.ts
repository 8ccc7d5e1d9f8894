// One request on the direct path to the target: with the fields of a proxy, over an idle connection if there is one.

import type { Socket } from 'node:net'
import {
  type DirectExchange,
  type DirectRequest,
  type DirectResponse,
  fieldsForVisitor,
  isGrpc,
} from '@svc/sdk-core'
import type { ConnectionPool } from '../http-client/connection-pool.ts'
import { Http1Exchange } from '../http-client/http1-exchange.ts'
import type { Http2Exchange } from '../http-client/http2-exchange.ts'
import type { OutgoingRequest } from '../http-client/outgoing-request.ts'
import { badGateway } from './bad-gateway.ts'
import { forwardedFields, forwardedTrailers } from './forwarded-fields.ts'
import type { Http2Way } from './http2-way.ts'
import { KeptBody } from './kept-body.ts'
import type { TargetOrigin, TargetView } from './target-origin.ts'
import { targetPath } from './target-path.ts'

/** RFC 9110 §9.2.1. */
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
/** The error of a TLS server that supports none of the offered protocols: here, an HTTP/2-only one (RFC 7301 §3.2). */
const NO_PROTOCOL = 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL'

/** Chooses the origin view of a request: by `TargetOrigin`, or a fixed one. */
type AnswerIn = TargetOrigin['answer']

export interface ForwardingOptions {
  target: URL
  pool: ConnectionPool
  http2: Http2Way
  /** Called with the error of a target that does not answer; the visitor then gets 502. */
  report(cause: unknown): void
  /** True when the request may be sent more than once. */
  mayRepeat: boolean
  /** True when no idle connection may carry the request. */
  isApart?: boolean
  answerIn: AnswerIn
}

export class ForwardedExchange implements DirectExchange {
  readonly #asked: DirectRequest
  readonly #options: ForwardingOptions
  readonly #kept: KeptBody | undefined
  readonly #exchanges: (Http1Exchange | Http2Exchange)[] = []
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
      return badGateway(cause, this.#asked)
    }
  }

  cancel(reason: unknown): void {
    this.#cancelled ??= { reason }
    this.#opening?.destroy()
    for (const exchange of this.#exchanges) exchange.cancel(reason)
  }

  /** @returns undefined when the request was already sent and cannot be repeated */
  #askIn(view: TargetView): Promise<DirectResponse> | undefined {
    const isAgain = this.#exchanges.length > 0
    const body = isAgain ? this.#kept?.again() : (this.#kept ?? this.#asked.body)
    if (isAgain && this.#asked.body && !body) return undefined
    return this.#ask(outgoingRequest({ ...this.#asked, body }, this.#options.target, view))
  }

  async #ask(request: OutgoingRequest): Promise<DirectResponse> {
    if (this.#cancelled) throw this.#cancelled.reason
    const { pool, http2 } = this.#options
    if (http2.isOnlyOne || isGrpc(request.fields)) return this.#askByHttp2(request)
    const kept = this.#options.isApart ? undefined : pool.take()
    if (kept) {
      try {
        return await this.#run(new Http1Exchange(kept, pool, request))
      } catch (error) {
        if (!this.#mayRepeat(request)) throw error
      }
    }
    return this.#askAnew(request)
  }

  async #askAnew(request: OutgoingRequest): Promise<DirectResponse> {
    const { pool, http2 } = this.#options
    try {
      const connection = await pool.open((socket) => {
        this.#opening = socket
      })
      this.#opening = undefined
      return await this.#run(new Http1Exchange(connection, pool, request))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== NO_PROTOCOL) throw error
      http2.isOnlyOne = true
      return this.#askByHttp2(request)
    }
  }

  async #askByHttp2(request: OutgoingRequest): Promise<DirectResponse> {
    const begin = await this.#options.http2.load()
    try {
      return await this.#run(begin(request))
    } catch (error) {
      if (!this.#mayRepeat(request)) throw error
      return this.#run(begin(request))
    }
  }

  /** Returns whether the request may be repeated because the target closed an idle connection just when it was reused. */
  #mayRepeat({ body, method }: OutgoingRequest): boolean {
    return this.#exchanges.at(-1)!.isUnheard && !body && SAFE.has(method) && !this.#cancelled
  }

  #run(exchange: Http1Exchange | Http2Exchange): Promise<DirectResponse> {
    this.#exchanges.push(exchange)
    if (this.#cancelled) exchange.cancel(this.#cancelled.reason)
    this.#asked.onSent?.()
    return exchange.run()
  }
}

function outgoingRequest(
  { method, url, target: sent, version, fields: asked, body, inform, ...visitor }: DirectRequest,
  target: URL,
  view: TargetView,
): OutgoingRequest {
  const has = (name: string, value: string): boolean =>
    asked.some((field) => field[0] === name && field[1].toLowerCase() === value)
  return {
    method,
    path: url.pathname,
    target: targetPath(target, url, sent),
    fields: forwardedFields(asked, view, visitor),
    body,
    expectsContinue: body !== undefined && asked.some(([name]) => name === 'expect'),
    takesTrailers: has('te', 'trailers'),
    inform: version === '1.0' ? undefined : inform,
    readFields: (answered) => fieldsForVisitor(answered, view),
    readTrailers: (trailers) => forwardedTrailers(trailers, view),
  }
}
