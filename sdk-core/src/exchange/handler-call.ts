// One call of the handler, for any HTTP version: from a ParsedRequest to a PreparedResponse or an upgrade.

import { isClaimedField } from '@svc/protocol'
import { isResponse } from '../platform-objects.ts'
import { type HttpError, UpgradeError } from '../semantics/http-error.ts'
import type { ParsedRequest } from '../semantics/parsed-request.ts'
import type { UpgradeTransport, WebSocketUpgrade } from '../websocket/upgrade.ts'
import { DIRECT, type DirectExchange, type Inform } from './direct.ts'
import { type DisconnectListener, DisconnectSignal, losses } from './disconnect-signal.ts'
import { type FetchInfo, running } from './fetch-handler.ts'
import { makeRequest } from './fetch-request.ts'
import type { HttpOptions } from './http-options.ts'
import type { OutgoingResponse } from './outgoing-response.ts'
import { PreparedResponse } from './prepared-response.ts'
import { refusal } from './refusal.ts'

/** The body of a request, in any HTTP version. */
interface RequestBody {
  readonly stream: ReadableStream<Uint8Array>
  /** Reads the body instead of `stream`. */
  next(stallMs?: number): Promise<Uint8Array | undefined>
  /** The error in the body, if a read of the handler found one. */
  readonly failure: HttpError | undefined
}

/** The code for the direct path, once a handler has used it. */
let passedResponse: typeof import('./passed-response.ts') | undefined

type MakeUpgrade = (...args: ConstructorParameters<typeof WebSocketUpgrade>) => WebSocketUpgrade

const refuseUpgrade: MakeUpgrade = () => {
  throw new UpgradeError('upgrade_required')
}

/**
 * Loads the code when a visitor needs it; most sites never do. A service worker cannot load it, and so cannot
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
  /** The direct path, if the handler has one for this request. */
  readonly #direct: DirectExchange | undefined
  /** Undefined on the direct path, and for `OPTIONS *`, which no Request can express: the SDK answers it itself. */
  readonly #request: Request | undefined
  #answer: OutgoingResponse | WebSocketUpgrade | undefined
  #upgrade: WebSocketUpgrade | undefined

  /**
   * @param transport called when the handler upgrades; it makes the transport of a WebSocket
   * @param inform called by the direct path
   */
  constructor(
    parsed: ParsedRequest,
    body: RequestBody | undefined,
    transport: () => UpgradeTransport,
    options: HttpOptions,
    inform: Inform,
  ) {
    this.#parsed = parsed
    this.#body = body
    this.#transport = transport
    this.#options = options
    const { head, url, webSocket } = parsed
    if (url === undefined) return
    head.fields = head.fields.filter(([name]) => !isClaimedField(name) || options.allowFields?.includes(name))
    const direct = webSocket ? undefined : options.fetch[DIRECT]
    this.#direct = direct?.({ ...head, ...options.visitor, url: new URL(url), body, inform })
    if (this.#direct) return
    this.#request = makeRequest(head, url, body?.stream, this.#disconnect.signal)
    losses.set(this.#request, this.#disconnect.broken)
  }

  /**
   * Calls the handler once. An error that it throws becomes a 500.
   * @throws HttpError when the body turned out malformed before the response began
   * @throws the error that broke the connection
   */
  async answer(): Promise<OutgoingResponse | WebSocketUpgrade> {
    const answer = await this.#respond()
    if ('batches' in answer) answer.hsts = this.#options.hsts
    this.#answer = answer
    return answer
  }

  /** The direct path continues: a proxy answers a visitor that half-closes after a whole request. */
  visitorLeft(): void {
    this.#disconnect.visitorLeft()
  }

  connectionBroken(error: unknown): void {
    this.#disconnect.connectionBroken(error)
    this.#direct?.cancel(error)
    this.#answer?.cancel(error)
  }

  /** Reports that the response could not be sent whole. */
  failed(error: unknown): void {
    this.#answer?.cancel(error)
    this.#report(error)
  }

  /** Ends the exchange, and closes a socket that was not used. */
  end(): void {
    this.#upgrade?.cancel(this.#disconnect.signal.reason)
  }

  async #respond(): Promise<OutgoingResponse | WebSocketUpgrade> {
    try {
      const answer = this.#direct ? await this.#pass(this.#direct) : await this.#handle()
      if (!this.#body?.failure) return answer
      answer.cancel(this.#body.failure)
    } catch (error) {
      if (this.#disconnect.isBroken || error instanceof UpgradeError) throw error
      if (!this.#body?.failure) {
        this.#report(error)
        const { fields, method } = this.#parsed.head
        return refusal({ status: 500, message: 'Internal Server Error' }, fields, method)
      }
    }
    // The SDK refuses a malformed message, whatever the handler returned.
    throw this.#body.failure
  }

  async #pass(direct: DirectExchange): Promise<OutgoingResponse> {
    const response = await Promise.race([direct.respond(), this.#disconnect.broken])
    passedResponse ??= await import('./passed-response.ts')
    return new passedResponse.PassedResponse(response, this.#parsed.head.method)
  }

  #prepare(response: Response): Promise<PreparedResponse> {
    return PreparedResponse.prepare(response, this.#parsed.head.method, this.#disconnect.broken)
  }

  async #handle(): Promise<OutgoingResponse | WebSocketUpgrade> {
    const request = this.#request
    if (!request) return this.#prepare(new Response(null, { status: 204 }))
    const response = await this.#fetch(request)
    if (response === this.#upgrade?.response) return this.#upgrade
    return this.#prepare(response)
  }

  async #fetch(request: Request): Promise<Response> {
    const { fetch } = this.#options
    const call = async (makeUpgrade: MakeUpgrade): Promise<Response> => {
      const info = this.#info(makeUpgrade)
      running.handler = fetch
      try {
        return fetch(request, info, info)
      } finally {
        running.handler = undefined
      }
    }
    const handled = this.#parsed.webSocket ? loadUpgrade().then(call) : call(refuseUpgrade)
    try {
      const response = await Promise.race([handled, this.#disconnect.broken])
      if (!isResponse(response)) throw new TypeError('fetch must return a Response')
      return response
    } catch (error) {
      // The SDK no longer needs this response: cancelling its body frees what it holds.
      if (this.#disconnect.isBroken) handled.then((late) => late.body?.cancel()).catch(() => {})
      throw error
    }
  }

  #info(makeUpgrade: MakeUpgrade): FetchInfo {
    return {
      canonicalUrl: this.#options.canonicalUrl,
      ...this.#options.visitor,
      waitUntil: (work) => {
        Promise.resolve(work).catch((error) => this.#options.onError(error))
      },
      passThroughOnException() {},
      props: {},
      upgrade: (given, options = {}) => {
        this.#disconnect.signal.throwIfAborted()
        if (this.#upgrade || this.#answer)
          throw new TypeError('upgrade can be called once, before the response')
        this.#upgrade = makeUpgrade(given, options, this.#transport(), this.#options.closing)
        return this.#upgrade
      },
    }
  }

  /** Reports an error of the handler, unless the visitor caused it by leaving or by a malformed body. */
  #report(error: unknown): void {
    const isTheirs = this.#disconnect.hasLeft || this.#body?.failure !== undefined
    if (!isTheirs) this.#options.onError(error)
  }
}
