// One call of the handler, for any version of HTTP: from a ParsedRequest to a PreparedResponse, or to an upgrade.

import { type HttpError, UpgradeError } from '../semantics/http-error.ts'
import type { ParsedRequest } from '../semantics/parsed-request.ts'
import type { UpgradeTransport, WebSocketUpgrade } from '../websocket/upgrade.ts'
import type { DisconnectListener } from './disconnect-listener.ts'
import type { FetchInfo } from './fetch-handler.ts'
import { makeRequest } from './fetch-request.ts'
import type { HttpOptions } from './http-options.ts'
import { PreparedResponse } from './prepared-response.ts'

/** The body of a request, however it comes. */
interface RequestBody {
  readonly stream: ReadableStream<Uint8Array>
  /** What is wrong with it, when a read of the handler found that something is. */
  readonly failure: HttpError | undefined
}

type MakeUpgrade = (...args: ConstructorParameters<typeof WebSocketUpgrade>) => WebSocketUpgrade

const refuseUpgrade: MakeUpgrade = () => {
  throw new UpgradeError('upgrade_required')
}

/** Loaded when a visitor asks for it: most sites never do. A service worker cannot: that hurts who upgrades only. */
async function loadUpgrade(): Promise<MakeUpgrade> {
  try {
    const { WebSocketUpgrade } = await import('../websocket/upgrade.ts')
    return (...args) => new WebSocketUpgrade(...args)
  } catch (error) {
    return () => {
      throw error
    }
  }
}

export class HandlerCall implements DisconnectListener {
  readonly #parsed: ParsedRequest
  readonly #body: RequestBody | undefined
  readonly #transport: () => UpgradeTransport
  readonly #options: HttpOptions
  readonly #disconnect = new AbortController()
  readonly #broken = Promise.withResolvers<never>()
  /** Undefined for `OPTIONS *`, which no Request can carry: it is answered here. */
  readonly #request: Request | undefined
  #isBroken = false
  #response: PreparedResponse | WebSocketUpgrade | undefined
  #upgrade: WebSocketUpgrade | undefined

  /** @param transport makes what a WebSocket runs over; called when the handler upgrades */
  constructor(
    parsed: ParsedRequest,
    body: RequestBody | undefined,
    transport: () => UpgradeTransport,
    options: HttpOptions,
  ) {
    this.#parsed = parsed
    this.#body = body
    this.#transport = transport
    this.#options = options
    this.#broken.promise.catch(() => {}) // matters only while the handler is waited for
    if (parsed.url !== undefined)
      this.#request = makeRequest(parsed.head, parsed.url, body?.stream, this.#disconnect.signal)
  }

  /**
   * Calls the handler, once. What it throws is a 500.
   * @throws HttpError when the body turned out malformed before the response began
   * @throws what the connection broke with
   */
  async response(): Promise<PreparedResponse | WebSocketUpgrade> {
    this.#response = await this.#respond()
    return this.#response
  }

  /**
   * An end of the visitor's direction aborts the signal, though the response is still sent. close_notify ends one
   * direction only (RFC 8446 §6.1), so a visitor may half-close and wait. But browsers and curl never do: they send it
   * when a tab is closed or a transfer is stopped, and then it is all that tells of their leaving while nothing is sent.
   */
  visitorLeft(): void {
    this.#disconnect.abort(new DOMException('The visitor left', 'AbortError'))
  }

  connectionBroken(error: unknown): void {
    this.#isBroken = true
    this.visitorLeft()
    this.#broken.reject(error)
    this.#response?.cancel(error)
  }

  /** The response could not be sent whole. */
  failed(error: unknown): void {
    this.#response?.cancel(error)
    this.#report(error)
  }

  /** The exchange is over; a socket that was not used is closed. */
  end(): void {
    this.#upgrade?.cancel(this.#disconnect.signal.reason)
  }

  async #respond(): Promise<PreparedResponse | WebSocketUpgrade> {
    const { method } = this.#parsed.head
    const request = this.#request
    if (!request) return PreparedResponse.prepare(new Response(null, { status: 204 }), method)
    try {
      const response = await this.#fetch(request)
      if (response === this.#upgrade?.response) return this.#upgrade
      const prepared = await PreparedResponse.prepare(response, method)
      if (!this.#body?.failure) return prepared
      prepared.cancel(this.#body.failure)
    } catch (error) {
      if (this.#isBroken || error instanceof UpgradeError) throw error
      if (!this.#body?.failure) {
        this.#report(error)
        return PreparedResponse.prepare(new Response('Internal Server Error', { status: 500 }), method)
      }
    }
    // A message that turned out malformed is refused as one, whatever the handler made of it.
    throw this.#body.failure
  }

  async #fetch(request: Request): Promise<Response> {
    const { fetch } = this.#options
    const handled = this.#parsed.webSocket
      ? loadUpgrade().then((make) => fetch(request, this.#info(request, make)))
      : (async () => fetch(request, this.#info(request, refuseUpgrade)))()
    try {
      const response = await Promise.race([handled, this.#broken.promise])
      if (!(response instanceof Response)) throw new TypeError('fetch has to return a Response')
      return response
    } catch (error) {
      // Nobody waits for it any more; what it holds open it should let go.
      if (this.#isBroken) handled.then((late) => late.body?.cancel()).catch(() => {})
      throw error
    }
  }

  #info(request: Request, makeUpgrade: MakeUpgrade): FetchInfo {
    return {
      canonicalUrl: this.#options.canonicalUrl,
      waitUntil: (promise) => {
        promise.catch((error) => this.#options.onError(error, request))
      },
      upgrade: (given, options = {}) => {
        this.#disconnect.signal.throwIfAborted()
        if (this.#upgrade || this.#response) throw new TypeError('upgrade is for once, before the response')
        this.#upgrade = makeUpgrade(given, options, this.#transport(), this.#options.closing)
        return this.#upgrade
      },
    }
  }

  /** A visitor that left or sent a malformed body makes handlers fail; that is not their error. */
  #report(error: unknown): void {
    const isTheirs = this.#disconnect.signal.aborted || this.#body?.failure !== undefined
    if (this.#request && !isTheirs) this.#options.onError(error, this.#request)
  }
}
