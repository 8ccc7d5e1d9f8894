// One call of the handler, for any version of HTTP: from a ParsedRequest to a PreparedResponse, or to an upgrade.

import { type HttpError, UpgradeError } from '../semantics/http-error.ts'
import type { ParsedRequest } from '../semantics/parsed-request.ts'
import type { UpgradeTransport, WebSocketUpgrade } from '../websocket/upgrade.ts'
import { type DisconnectListener, DisconnectSignal } from './disconnect-signal.ts'
import type { FetchInfo } from './fetch-handler.ts'
import { makeRequest } from './fetch-request.ts'
import type { HttpOptions } from './http-options.ts'
import { PreparedResponse } from './prepared-response.ts'

/** The body of a request, in any version of HTTP. */
interface RequestBody {
  readonly stream: ReadableStream<Uint8Array>
  /** The error in the body, when a read of the handler found one. */
  readonly failure: HttpError | undefined
}

type MakeUpgrade = (...args: ConstructorParameters<typeof WebSocketUpgrade>) => WebSocketUpgrade

const refuseUpgrade: MakeUpgrade = () => {
  throw new UpgradeError('upgrade_required')
}

/**
 * Loads the code when a visitor asks for it, which most sites never see. A service worker cannot load it, and so cannot
 * upgrade.
 */
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
  readonly #disconnect = new DisconnectSignal()
  /** Undefined for `OPTIONS *`, which no Request can carry: the SDK answers it itself. */
  readonly #request: Request | undefined
  #response: PreparedResponse | WebSocketUpgrade | undefined
  #upgrade: WebSocketUpgrade | undefined

  /** @param transport called when the handler upgrades; it makes the transport of a WebSocket */
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
    if (parsed.url !== undefined)
      this.#request = makeRequest(parsed.head, parsed.url, body?.stream, this.#disconnect.signal)
  }

  /**
   * Calls the handler once. An error that it throws becomes a 500.
   * @throws HttpError when the body turned out malformed before the response began
   * @throws the error that broke the connection
   */
  async response(): Promise<PreparedResponse | WebSocketUpgrade> {
    this.#response = await this.#respond()
    return this.#response
  }

  visitorLeft(): void {
    this.#disconnect.visitorLeft()
  }

  connectionBroken(error: unknown): void {
    this.#disconnect.connectionBroken(error)
    this.#response?.cancel(error)
  }

  /** Reports that the response could not be sent whole. */
  failed(error: unknown): void {
    this.#response?.cancel(error)
    this.#report(error)
  }

  /** Ends the exchange, and closes a socket that was not used. */
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
      if (this.#disconnect.isBroken || error instanceof UpgradeError) throw error
      if (!this.#body?.failure) {
        this.#report(error)
        return PreparedResponse.prepare(new Response('Internal Server Error', { status: 500 }), method)
      }
    }
    // A malformed message is refused, whatever the handler made of it.
    throw this.#body.failure
  }

  async #fetch(request: Request): Promise<Response> {
    const { fetch } = this.#options
    const handled = this.#parsed.webSocket
      ? loadUpgrade().then((make) => fetch(request, this.#info(request, make)))
      : (async () => fetch(request, this.#info(request, refuseUpgrade)))()
    try {
      const response = await Promise.race([handled, this.#disconnect.broken])
      if (!(response instanceof Response)) throw new TypeError('fetch has to return a Response')
      return response
    } catch (error) {
      // The SDK does not wait for this response any more: its body is cancelled, so that it frees what it holds.
      if (this.#disconnect.isBroken) handled.then((late) => late.body?.cancel()).catch(() => {})
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

  /** Reports an error of the handler, unless the visitor caused it: by leaving, or with a malformed body. */
  #report(error: unknown): void {
    const isTheirs = this.#disconnect.signal.aborted || this.#body?.failure !== undefined
    if (this.#request && !isTheirs) this.#options.onError(error, this.#request)
  }
}
