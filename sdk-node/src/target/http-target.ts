// A local HTTP or HTTPS server as the target: requests and responses are streamed to it and back.

import { DIRECT, type DirectHandler, type DirectlyHandled, SvcError } from '@svc/sdk-core'
import { ConnectionPool } from '../http-client/connection-pool.ts'
import { answerRequest, toResponse } from './answer-request.ts'
import { badGateway, ForwardedExchange } from './forwarded-exchange.ts'
import { targetPath } from './target-path.ts'
import { unreachable } from './tcp-target.ts'
import { proxyWebSocket } from './websocket-proxy.ts'

export interface HttpTargetOptions {
  /** PEM of the authority that an HTTPS target's certificate is checked against. */
  ca?: string | Buffer | undefined
  /** Called with the error of a target that cannot be reached; the visitor gets 502, and does not learn where the target is. */
  onError(error: SvcError): void
}

/** Passes requests on to `target`, WebSockets included. All but WebSockets have a direct way. */
export function httpTarget(target: URL, { ca, onError }: HttpTargetOptions): DirectlyHandled {
  const pool = new ConnectionPool(target, ca)
  const report = (cause: unknown): void =>
    onError(cause instanceof SvcError ? cause : unreachable(pool, cause))
  const direct: DirectHandler = (request) => new ForwardedExchange(request, target, pool, report)
  const handler: DirectlyHandled = async (request, info) => {
    if (request.headers.get('upgrade')?.toLowerCase() !== 'websocket') return answerRequest(request, direct)
    const url = new URL(target.origin + targetPath(target, new URL(request.url)))
    try {
      return await proxyWebSocket(url, request, info, ca)
    } catch (cause) {
      if (request.signal.aborted) throw cause
      report(cause)
      return toResponse(badGateway(), request.method)
    }
  }
  handler[DIRECT] = direct
  return handler
}
