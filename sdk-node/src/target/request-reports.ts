// Reports each request that a handler answers.

import {
  DIRECT,
  type DirectHandler,
  type DirectlyHandled,
  type DirectRequest,
  type KnownVisitor,
  type RemoteAddress,
} from '@svc/sdk-core'
import type { Watching, WebhookVerdict } from '@svc/sdk-core/webhooks'

/** RequestReport is one answered request. */
export interface RequestReport {
  method: string
  /** The path without its query, which may contain secrets of the visitor. */
  path: string
  status: number
  /** The visitor's version of HTTP. */
  httpVersion: '1.0' | '1.1' | '2'
  /** The bytes of the response's content. Undefined when its head does not say. */
  bytes: number | undefined
  /** Where the visitor's connection comes from, as the relay says. Undefined when the site does not know. */
  remote: RemoteAddress | undefined
  /** The time until the head of the response, in milliseconds. */
  ms: number
  /** What was found out about its signature, with the option `webhooks`. Undefined for what is no webhook. */
  webhook?: WebhookVerdict | undefined
}

/** OnRequest is called with a report of each answered request. */
export type OnRequest = (report: RequestReport) => void

type VerdictOf = Watching['verdictOf']

/** @param verdictOf tells what was found out about a webhook */
export function reportingRequests(
  onRequest: OnRequest | undefined,
  handler: DirectlyHandled,
  verdictOf: VerdictOf = () => undefined,
): DirectlyHandled {
  if (!onRequest) return handler
  const reporting: DirectlyHandled = async (request, info) => {
    const report = startReport(onRequest, request.method, new URL(request.url), info)
    const response = await handler(request, info, info)
    const length = response.body === null ? 0 : lengthIn(response.headers)
    report({ status: response.status, length }, verdictOf(request))
    return response
  }
  const direct = handler[DIRECT]
  if (direct) reporting[DIRECT] = reportingDirectly(onRequest, direct, verdictOf)
  return reporting
}

function reportingDirectly(onRequest: OnRequest, direct: DirectHandler, verdictOf: VerdictOf): DirectHandler {
  return (request) => {
    const exchange = direct(request)
    return (
      exchange && {
        respond: async () => {
          const report = startReport(onRequest, request.method, request.url, request)
          const response = await exchange.respond()
          report(response, verdictOf(request))
          return response
        },
        cancel: (reason) => exchange.cancel(reason),
      }
    )
  }
}

/** @returns a function that reports the request with the status of its response, a webhook once it was checked */
function startReport(
  onRequest: OnRequest,
  method: string,
  { pathname: path }: URL,
  { remote, httpVersion, version = '1.1' }: KnownVisitor & Pick<DirectRequest, 'version'>,
): (answer: { status: number; length: number | undefined }, verdict: ReturnType<VerdictOf>) => void {
  const askedAt = performance.now()
  return ({ status, length }, verdict) => {
    const isEmpty = method === 'HEAD' || status === 204 || status === 304
    const report = {
      method,
      path,
      status,
      httpVersion: httpVersion ?? version,
      bytes: isEmpty ? 0 : length,
      remote,
      ms: performance.now() - askedAt,
    }
    const tell = (webhook?: WebhookVerdict): void => onRequest(webhook ? { ...report, webhook } : report)
    if (verdict) void verdict.catch(() => undefined).then(tell)
    else tell()
  }
}

function lengthIn(headers: Headers): number | undefined {
  const length = headers.get('content-length')
  return length === null ? undefined : Number(length)
}
