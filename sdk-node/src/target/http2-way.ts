// Requests to a target over HTTP/2, whose code is loaded for the first one.

import type { Http2Exchange } from '../http-client/http2-exchange.ts'
import type { OutgoingRequest } from '../http-client/outgoing-request.ts'
import type { TargetDialer } from '../http-client/target-dialer.ts'

type Begin = (request: OutgoingRequest) => Http2Exchange

export class Http2Way {
  /** True when all requests use HTTP/2, not only gRPC calls. */
  isOnlyOne: boolean
  readonly #dialer: TargetDialer
  readonly #origin: string
  #begin: Promise<Begin> | undefined

  constructor(dialer: TargetDialer, { origin }: URL, isOnlyOne: boolean) {
    this.#dialer = dialer
    this.#origin = origin
    this.isOnlyOne = isOnlyOne
  }

  /** Resolves with the function that begins an exchange. */
  load(): Promise<Begin> {
    this.#begin ??= this.#load()
    return this.#begin
  }

  async #load(): Promise<Begin> {
    const { Http2Sessions } = await import('../http-client/http2-sessions.ts')
    const { Http2Exchange } = await import('../http-client/http2-exchange.ts')
    const sessions = new Http2Sessions(this.#dialer, this.#origin)
    return (request) => new Http2Exchange(sessions, request)
  }
}
