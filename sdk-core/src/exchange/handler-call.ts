// One call of the handler, for any version of HTTP: what it is given, what becomes of its answer, when it is let go.

import { type HttpError, UpgradeError } from '../semantics/http-error.ts'
import type { Asked } from '../semantics/parsed-request.ts'
import type { Tunnel, Upgrade } from '../websocket/upgrade.ts'
import type { Presence } from './disconnect-listener.ts'
import type { FetchInfo } from './fetch-handler.ts'
import { makeRequest } from './fetch-request.ts'
import type { HttpOptions } from './http-options.ts'
import { Answer } from './prepared-response.ts'

/** The body of a request, however it comes. */
interface RequestBody {
  readonly stream: ReadableStream<Uint8Array>
  /** What is wrong with it, when a read of the handler found that something is. */
  readonly failure: HttpError | undefined
}

type MakeUpgrade = (...args: ConstructorParameters<typeof Upgrade>) => Upgrade

const refuseUpgrade: MakeUpgrade = () => {
  throw new UpgradeError('upgrade_required')
}

/** Loaded when a visitor asks for it: most sites never do. A service worker cannot: that hurts who upgrades only. */
async function loadUpgrade(): Promise<MakeUpgrade> {
  try {
    const { Upgrade } = await import('../websocket/upgrade.ts')
    return (...args) => new Upgrade(...args)
  } catch (error) {
    return () => {
      throw error
    }
  }
}

export class Call implements Presence {
  readonly #asked: Asked
  readonly #body: RequestBody | undefined
  readonly #tunnel: () => Tunnel
  readonly #options: HttpOptions
  readonly #visit = new AbortController()
  readonly #broken = Promise.withResolvers<never>()
  /** Undefined for `OPTIONS *`, which no Request can carry: it is answered here. */
  readonly #request: Request | undefined
  #isBroken = false
  #answer: Answer | Upgrade | undefined
  #upgrade: Upgrade | undefined

  /** @param tunnel what a WebSocket speaks over, asked for when there is one */
  constructor(asked: Asked, body: RequestBody | undefined, tunnel: () => Tunnel, options: HttpOptions) {
    this.#asked = asked
    this.#body = body
    this.#tunnel = tunnel
    this.#options = options
    this.#broken.promise.catch(() => {}) // matters only while the handler is waited for
    if (asked.url !== undefined)
      this.#request = makeRequest(asked.head, asked.url, body?.stream, this.#visit.signal)
  }

  /**
   * Calls the handler, once. What it throws is a 500.
   * @throws HttpError when the body turned out malformed before the response began
   * @throws what the connection broke with
   */
  async answer(): Promise<Answer | Upgrade> {
    this.#answer = await this.#respond()
    return this.#answer
  }

  /**
   * An end of the visitor's direction aborts the signal, though the response is still sent. close_notify ends one
   * direction only (RFC 8446 §6.1), so a visitor may half-close and wait. But browsers and curl never do: they send it
   * when a tab is closed or a transfer is stopped, and then it is all that tells of their leaving while nothing is sent.
   */
  left(): void {
    this.#visit.abort(new DOMException('The visitor left', 'AbortError'))
  }

  broken(error: unknown): void {
    this.#isBroken = true
    this.left()
    this.#broken.reject(error)
    this.#answer?.cancel(error)
  }

  /** The answer could not be sent whole. */
  failed(error: unknown): void {
    this.#answer?.cancel(error)
    this.#report(error)
  }

  /** The exchange is over; a socket that was not used is closed. */
  end(): void {
    this.#upgrade?.cancel(this.#visit.signal.reason)
  }

  async #respond(): Promise<Answer | Upgrade> {
    const { method } = this.#asked.head
    const request = this.#request
    if (!request) return Answer.prepare(new Response(null, { status: 204 }), method)
    try {
      const response = await this.#fetch(request)
      if (response === this.#upgrade?.response) return this.#upgrade
      const answer = await Answer.prepare(response, method)
      if (!this.#body?.failure) return answer
      answer.cancel(this.#body.failure)
    } catch (error) {
      if (this.#isBroken || error instanceof UpgradeError) throw error
      if (!this.#body?.failure) {
        this.#report(error)
        return Answer.prepare(new Response('Internal Server Error', { status: 500 }), method)
      }
    }
    // A message that turned out malformed is refused as one, whatever the handler made of it.
    throw this.#body.failure
  }

  async #fetch(request: Request): Promise<Response> {
    const { fetch } = this.#options
    const answer = this.#asked.webSocket
      ? loadUpgrade().then((make) => fetch(request, this.#info(request, make)))
      : (async () => fetch(request, this.#info(request, refuseUpgrade)))()
    try {
      const response = await Promise.race([answer, this.#broken.promise])
      if (!(response instanceof Response)) throw new TypeError('fetch has to return a Response')
      return response
    } catch (error) {
      // Nobody waits for it any more; what it holds open it should let go.
      if (this.#isBroken) answer.then((late) => late.body?.cancel()).catch(() => {})
      throw error
    }
  }

  #info(request: Request, makeUpgrade: MakeUpgrade): FetchInfo {
    return {
      canonicalUrl: this.#options.canonicalUrl,
      waitUntil: (promise) => {
        promise.catch((error) => this.#options.onError(error, request))
      },
      upgrade: (asked, options = {}) => {
        this.#visit.signal.throwIfAborted()
        if (this.#upgrade || this.#answer) throw new TypeError('upgrade is for once, before the response')
        this.#upgrade = makeUpgrade(asked, options, this.#tunnel(), this.#options.closing)
        return this.#upgrade
      },
    }
  }

  /** A visitor that left or sent a malformed body makes handlers fail; that is not their error. */
  #report(error: unknown): void {
    const isTheirs = this.#visit.signal.aborted || this.#body?.failure !== undefined
    if (this.#request && !isTheirs) this.#options.onError(error, this.#request)
  }
}
