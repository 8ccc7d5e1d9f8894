// Checks the webhooks that pass a handler, and changes nothing of them.

import { bodyStream } from '../exchange/body-stream.ts'
import {
  DIRECT,
  type DirectExchange,
  type DirectHandler,
  type DirectlyHandled,
  type DirectRequest,
} from '../exchange/direct.ts'
import { losses } from '../exchange/disconnect-signal.ts'
import type { RemoteAddress } from '../exchange/fetch-handler.ts'
import { buildRequest, makeHeaders } from '../exchange/fetch-request.ts'
import { Room } from './room.ts'
import type { WebhookSender } from './secrets.ts'
import { verdict, type WebhookVerdict } from './verdict.ts'
import type { WebhookVerifier } from './verifier.ts'
import { WatchedBody } from './watched-body.ts'

/** The most bytes of bodies that are kept for checks at once: some of the largest. */
const KEPT_MAX_BYTES: number = 128 * 1024 * 1024
/** The most of them for one network: one of the largest, and some of usual size. */
const KEPT_SHARE_BYTES: number = 32 * 1024 * 1024
/** How long a handler may read on after the head of its response, in milliseconds. */
const READ_ON_MS = 1_000

const TOO_LARGE = 'the body is larger than what is kept for a check, so it was not checked'
const UNREAD = 'the body was not read to its end, so it was not checked'

/** A Watching is a handler whose webhooks are checked. */
export interface Watching {
  readonly handler: DirectlyHandled
  /**
   * Returns the verdict about a request that the handler got, once the head of its response is there.
   * @param request the same object that the handler got
   * @returns undefined for what is no webhook of a known sender
   */
  verdictOf(request: Request | DirectRequest): Promise<WebhookVerdict> | undefined
}

interface Watched {
  readonly sender: WebhookSender
  readonly method: string
  readonly url: string
  readonly headers: Headers
  readonly body: WatchedBody | undefined
}

/** Returns the handler with the checks around it. */
export function watchWebhooks(handler: DirectlyHandled, verifier: WebhookVerifier): Watching {
  const watcher = new Watcher(verifier)
  const watching: DirectlyHandled = async (request, info) => {
    try {
      return await handler(watcher.request(request, info.remote), info, info)
    } catch (error) {
      watcher.drop(request)
      throw error
    }
  }
  const direct = handler[DIRECT]
  if (direct) watching[DIRECT] = watcher.directly(direct)
  return { handler: watching, verdictOf: (request) => watcher.verdictOf(request) }
}

class Watcher {
  readonly #verifier: WebhookVerifier
  readonly #room = new Room(KEPT_MAX_BYTES, KEPT_SHARE_BYTES)
  readonly #watched = new WeakMap<Request | DirectRequest, Watched>()

  constructor(verifier: WebhookVerifier) {
    this.#verifier = verifier
  }

  directly(direct: DirectHandler): DirectHandler {
    return (request) => {
      const { method, fields, body: source, remote } = request
      const headers = makeHeaders(fields)
      const sender = this.#verifier.senderOf(headers)
      if (sender === undefined) return direct(request)
      const body = this.#keeps(sender) && source ? new WatchedBody(source, this.#room, remote) : undefined
      this.#watched.set(request, { sender, method, headers, url: urlOf(request), body })
      const exchange = direct(body ? { ...request, body } : request)
      return exchange && body ? this.#dropping(exchange, request) : exchange
    }
  }

  /** Drops what is kept of a request that nobody answered. */
  drop(request: Request | DirectRequest): void {
    const body = this.#watched.get(request)?.body
    body?.leave()
    body?.release()
  }

  #dropping(exchange: DirectExchange, request: DirectRequest): DirectExchange {
    return {
      respond: async () => {
        try {
          return await exchange.respond()
        } catch (error) {
          this.drop(request)
          throw error
        }
      },
      cancel: (reason) => {
        this.drop(request)
        exchange.cancel(reason)
      },
    }
  }

  /** Returns the request for the handler. */
  request(request: Request, remote: RemoteAddress | undefined): Request {
    const { method, headers, url, signal } = request
    const sender = this.#verifier.senderOf(headers)
    if (sender === undefined) return request
    const reader = this.#keeps(sender) ? request.body?.getReader() : undefined
    const source = reader && { next: async () => (await reader.read()).value }
    const body = source && new WatchedBody(source, this.#room, remote)
    this.#watched.set(request, { sender, method, headers, url, body })
    if (!body) return request
    const made = buildRequest(
      url,
      { method, headers, signal },
      bodyStream(body, (why) => {
        body.leave()
        return reader!.cancel(why)
      }),
    )
    const loss = losses.get(request)
    if (loss) losses.set(made, loss)
    return made
  }

  verdictOf(request: Request | DirectRequest): Promise<WebhookVerdict> | undefined {
    const watched = this.#watched.get(request)
    return watched && this.#judge(watched)
  }

  #keeps(sender: WebhookSender): boolean {
    return this.#verifier.knows(sender)
  }

  async #judge({ sender, body, ...asked }: Watched): Promise<WebhookVerdict> {
    if (!body) return (await this.#verifier.verify({ ...asked, body: new Uint8Array(0) }))!
    const late = setTimeout(() => body.leave(), READ_ON_MS)
    try {
      const end = await body.end
      if (end === 'too_large') return verdict(sender, end, TOO_LARGE)
      if (end === 'unread') return verdict(sender, end, UNREAD)
      return (await this.#verifier.verify({ ...asked, body: body.bytes }))!
    } finally {
      clearTimeout(late)
      body.release()
    }
  }
}

/** Returns the URL as the visitor sent it: a parsed one may be spelled in another way. */
function urlOf({ url, target }: DirectRequest): string {
  return target?.startsWith('/') ? url.origin + target : url.href
}
