// A local HTTP or HTTPS server as the target: requests and responses are streamed to it and back.

import {
  DIRECT,
  type DirectExchange,
  type DirectHandler,
  type DirectlyHandled,
  type DirectResponse,
  SvcError,
  toResponse,
} from '@svc/sdk-core'
import type { HoldBefore } from '../hold/held.ts'
import { ConnectionPool } from '../http-client/connection-pool.ts'
import { type TargetAccess, TargetDialer } from '../http-client/target-dialer.ts'
import { answerRequest } from './answer-request.ts'
import { badGateway, causeOf } from './bad-gateway.ts'
import { ForwardedExchange, type ForwardingOptions } from './forwarded-exchange.ts'
import { Http2Way } from './http2-way.ts'
import { priorKnowledge, socketPathOf } from './target-address.ts'
import { isNobody, plainHint, tlsHint } from './target-hint.ts'
import { type HostHeader, TargetOrigin, type TargetView } from './target-origin.ts'
import { targetPath } from './target-path.ts'
import { unanswered, unreachable } from './tcp-target.ts'
import { proxyWebSocket } from './websocket-proxy.ts'

/** The deadline of a target's answer when the SDK probes which host it accepts, in milliseconds. */
const HOST_LOOK_DEADLINE_MS = 5_000
/** The most redirects that such a probe follows. */
const LOOK_REDIRECTS_MAX = 3

export interface HttpTargetOptions extends Omit<TargetAccess, 'socketPath'> {
  /** The Host of requests. */
  host?: HostHeader | undefined
  /** Keeps requests while the target is down. */
  hold?: HoldBefore | undefined
  /**
   * Called with the error of a target that cannot be reached, or that refuses the visited host; visitors of an unreachable
   * target get 502, without its address.
   */
  onError(error: SvcError): void
}

type Ways = Pick<ForwardingOptions, 'target' | 'pool' | 'http2'>

/** The URL of a server at a Unix socket. */
const AT_UNIX_SOCKET = 'http://localhost'

/** Returns a handler that forwards requests, including WebSockets, to `target`. All except WebSockets use the direct path. */
export function httpTarget(
  given: URL,
  { ca, serverName, host, hold, onError }: HttpTargetOptions,
): DirectlyHandled {
  const socketPath = socketPathOf(given)
  const asHttp2 = priorKnowledge(given)
  const target = asHttp2 ?? (socketPath === undefined ? given : new URL(AT_UNIX_SOCKET))
  const access = { ca, serverName, socketPath }
  const dialer = new TargetDialer(target, access)
  const ways = {
    target,
    pool: new ConnectionPool(dialer),
    http2: new Http2Way(dialer, target, asHttp2 !== undefined),
  }
  const origin = new TargetOrigin({
    address: target,
    host,
    look: (view) => look(view, ways),
    onRefused: onError,
  })
  const isPlainKnown = target.protocol === 'https:' || socketPath !== undefined
  const faults = new TargetFaults(dialer, { socketPath, origin, isPlainKnown, onError })
  const report = (cause: unknown): void => faults.report(cause)
  const answerIn: TargetOrigin['answer'] = async (...asked) => {
    const answer = await origin.answer(...asked)
    faults.answered()
    return answer
  }
  const asking =
    (how: Pick<ForwardingOptions, 'report' | 'isApart'>): DirectHandler =>
    (request) =>
      new ForwardedExchange(request, { ...ways, ...how, mayRepeat: origin.mayAskAgain(request), answerIn })
  const direct = hold
    ? hold({
        ask: asking({ report, isApart: true }),
        deliver: asking({ report: (cause) => isNobody(cause) || report(cause), isApart: true }),
        causeOf,
      })
    : asking({ report })
  const handler: DirectlyHandled = async (request, info) => {
    if (request.headers.get('upgrade')?.toLowerCase() !== 'websocket')
      return answerRequest(request, direct, info)
    const { method, headers: fields } = request
    const asked = { url: new URL(request.url), method, fields, isHandshake: true }
    const url = new URL(target.origin + targetPath(target, asked.url))
    const ask = (view: TargetView): Promise<Response> =>
      proxyWebSocket(url, request, info, { ...access, view })
    try {
      return await origin.answer(asked, ask, (answer) => void answer.body?.cancel())
    } catch (cause) {
      if (request.signal.aborted) throw cause
      report(cause)
      return toResponse(badGateway(cause), method)
    }
  }
  handler[DIRECT] = direct
  return handler
}

interface FaultOptions extends Pick<HttpTargetOptions, 'onError'> {
  socketPath: string | undefined
  origin: TargetOrigin
  isPlainKnown: boolean
}

/** Reports a target that does not answer, and once adds that it speaks TLS if that is the reason. */
class TargetFaults {
  readonly #dialer: TargetDialer
  readonly #socketPath: string | undefined
  readonly #origin: TargetOrigin
  readonly #onError: (error: SvcError) => void
  /** True when the target answered without TLS, uses TLS anyway, or was already probed for TLS. */
  #isPlainKnown: boolean

  constructor(dialer: TargetDialer, { socketPath, origin, isPlainKnown, onError }: FaultOptions) {
    this.#dialer = dialer
    this.#socketPath = socketPath
    this.#origin = origin
    this.#isPlainKnown = isPlainKnown
    this.#onError = onError
  }

  answered(): void {
    this.#isPlainKnown = true
  }

  report(cause: unknown): void {
    if (isNobody(cause)) this.#origin.forget()
    this.#onError(this.#errorOf(cause))
    if (this.#isPlainKnown || isNobody(cause)) return
    this.#isPlainKnown = true
    void plainHint(this.#dialer).then((hint) => {
      if (hint) this.#onError(unreachable(this.#dialer, cause, hint))
    })
  }

  #errorOf(cause: unknown): SvcError {
    if (cause instanceof SvcError) return cause
    if (this.#socketPath !== undefined) return unanswered(`unix:${this.#socketPath}`, cause)
    return unreachable(this.#dialer, cause, tlsHint(cause))
  }
}

/** Requests `/` without credentials, and follows redirects. Resolves with the last status. */
async function look(view: TargetView, ways: Ways): Promise<number> {
  let asked: DirectExchange | undefined
  const late = setTimeout(() => asked?.cancel(new Error('no answer in time')), HOST_LOOK_DEADLINE_MS)
  try {
    let url = new URL(view.visited.origin)
    for (let redirects = 0; ; redirects += 1) {
      asked = new ForwardedExchange(
        { method: 'GET', url, fields: [['accept', '*/*']], body: undefined },
        { ...ways, report: () => {}, mayRepeat: false, answerIn: (_, ask) => ask(view)! },
      )
      const answer = await asked.respond()
      answer.cancel(undefined)
      const next = redirects < LOOK_REDIRECTS_MAX ? redirectOf(answer, url) : undefined
      if (!next) return answer.status
      url = next
    }
  } finally {
    clearTimeout(late)
  }
}

/** @returns the target of a redirect within the site */
function redirectOf({ status, fields }: DirectResponse, from: URL): URL | undefined {
  const location = fields.find(([name]) => name.toLowerCase() === 'location')?.[1]
  const next = status >= 300 && status < 400 && location ? URL.parse(location, from) : null
  if (next?.host !== from.host) return undefined
  // The target may not know that visitors use HTTPS.
  next.protocol = from.protocol
  return next
}
