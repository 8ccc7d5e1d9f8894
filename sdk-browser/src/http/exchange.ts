// One exchange: the handler gets the request, the visitor gets the response.

import type { Upgrade, Upgraded, UpgradeOptions } from '../websocket/upgrade.ts'
import type { Asked } from './asked.ts'
import { Body } from './body.ts'
import { UpgradeError } from './errors.ts'
import { encodeLatin1 } from './latin1.ts'
import type { Peer, Presence } from './peer.ts'
import { ALLOW } from './refusal.ts'
import { Reply } from './reply.ts'
import { makeRequest } from './request.ts'
import type { Site } from './target.ts'

/** What the handler is told beside the request. */
export interface FetchInfo {
  /** The URL of the site under the hostname that nobody else can have. */
  canonicalUrl: string
  /** Watches work that goes on after the response: when it fails, that is reported like an error of the handler. */
  waitUntil(promise: Promise<unknown>): void
  /**
   * Makes a WebSocket of a visitor's request, which is in no way checked for its `Origin`. Return the response, as it
   * is; the socket opens when it is sent.
   * @throws an error that answers a request that asks for no WebSocket with 426, and a malformed one with 400
   */
  upgrade(request: Request, options?: UpgradeOptions): Upgraded
}

/** What every framework exports as its `fetch`. */
export type FetchHandler = (request: Request, info: FetchInfo) => Response | Promise<Response>

export interface HttpOptions extends Site {
  fetch: FetchHandler
  /** Aborted when the site closes: the exchange that is on is finished, and none follows. */
  closing?: AbortSignal | undefined
  /** The handler failed: it threw, gave no usable response, or its body broke off. The visitor learns no details. */
  onError(error: unknown, request: Request): void
}

const CONTINUE: Uint8Array = encodeLatin1('HTTP/1.1 100 Continue\r\n\r\n')

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

export class Exchange implements Presence {
  readonly #peer: Peer
  readonly #asked: Asked
  readonly #options: HttpOptions
  readonly #visit = new AbortController()
  readonly #broken = Promise.withResolvers<never>()
  readonly #body: Body | undefined
  /** Undefined for `OPTIONS *`, which no Request can carry: it is answered here. */
  readonly #request: Request | undefined
  #reply: Reply | Upgrade | undefined
  #upgrade: Upgrade | undefined

  /** @throws HttpError when the platform cannot make the Request */
  constructor(peer: Peer, asked: Asked, options: HttpOptions) {
    this.#peer = peer
    this.#asked = asked
    this.#options = options
    this.#broken.promise.catch(() => {}) // matters only while the handler is waited for
    const invite = asked.expectsContinue ? () => peer.output.write(CONTINUE) : undefined
    if (asked.length !== 0) this.#body = new Body(peer.input, asked.length, invite)
    if (asked.url !== undefined)
      this.#request = makeRequest(asked, asked.url, this.#body?.stream, this.#visit.signal)
  }

  /**
   * @returns whether another request can follow
   * @throws HttpError when the body turned out malformed before the response began
   * @throws what the connection broke with
   */
  async run(): Promise<boolean> {
    this.#peer.watch(this)
    try {
      this.#reply = await this.#respond()
      const mayFollow = this.#asked.persistent && this.#options.closing?.aborted !== true
      const persistent = mayFollow && this.#reply.isReusable && (this.#body?.isReusable ?? true)
      await this.#send(this.#reply, persistent)
      this.#body?.release()
      return persistent && ((await this.#body?.drain()) ?? true)
    } finally {
      this.#upgrade?.cancel(this.#visit.signal.reason)
      this.#peer.watch(undefined)
    }
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
    this.left()
    this.#broken.reject(error)
    this.#reply?.cancel(error)
  }

  async #respond(): Promise<Reply | Upgrade> {
    const { head } = this.#asked
    const request = this.#request
    if (!request) return Reply.prepare(new Response(null, { status: 204, headers: { allow: ALLOW } }), head)
    try {
      const response = await this.#call(request)
      if (response === this.#upgrade?.response) return this.#upgrade
      const reply = await Reply.prepare(response, head)
      if (!this.#body?.failure) return reply
      reply.cancel(this.#body.failure)
    } catch (error) {
      if (this.#peer.isBroken || error instanceof UpgradeError) throw error
      if (!this.#body?.failure) {
        this.#report(error)
        return Reply.prepare(new Response('Internal Server Error', { status: 500 }), head)
      }
    }
    // A message that turned out malformed is refused as one, whatever the handler made of it.
    throw this.#body.failure
  }

  async #call(request: Request): Promise<Response> {
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
      if (this.#peer.isBroken) answer.then((late) => late.body?.cancel()).catch(() => {})
      throw error
    }
  }

  async #send(reply: Reply | Upgrade, persistent: boolean): Promise<void> {
    try {
      await reply.send(this.#peer.output, persistent)
    } catch (error) {
      reply.cancel(error)
      this.#report(error)
      // The visitor must not take what it has for the whole.
      this.#peer.break(error)
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
        if (this.#upgrade || this.#reply) throw new TypeError('upgrade is for once, before the response')
        this.#upgrade = makeUpgrade(asked, options, this.#peer.stream, this.#options.closing)
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
