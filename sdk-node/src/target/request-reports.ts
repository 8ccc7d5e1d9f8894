// Reports each request that a handler answers.

import { DIRECT, type DirectHandler, type DirectlyHandled, type RemoteAddress } from '@svc/sdk-core'

/** RequestReport is one answered request. */
export interface RequestReport {
  method: string
  /** The path without its query, which may contain secrets of the visitor. */
  path: string
  status: number
  /** Where the visitor's connection comes from, as the relay says. Undefined when the site does not know. */
  remote: RemoteAddress | undefined
  /** The time until the head of the response, in milliseconds. */
  ms: number
}

/** OnRequest is called with a report of each answered request. */
export type OnRequest = (report: RequestReport) => void

export function reportingRequests(
  onRequest: OnRequest | undefined,
  handler: DirectlyHandled,
): DirectlyHandled {
  if (!onRequest) return handler
  const reporting: DirectlyHandled = async (request, info) => {
    const report = startReport(onRequest, request.method, new URL(request.url), info.remote)
    const response = await handler(request, info, info)
    report(response.status)
    return response
  }
  const direct = handler[DIRECT]
  if (direct) reporting[DIRECT] = reportingDirectly(onRequest, direct)
  return reporting
}

function reportingDirectly(onRequest: OnRequest, direct: DirectHandler): DirectHandler {
  return (request) => {
    const exchange = direct(request)
    return (
      exchange && {
        respond: async () => {
          const report = startReport(onRequest, request.method, request.url, request.remote)
          const response = await exchange.respond()
          report(response.status)
          return response
        },
        cancel: (reason) => exchange.cancel(reason),
      }
    )
  }
}

/** @returns a function that reports the request with the status of its response */
function startReport(
  onRequest: OnRequest,
  method: string,
  { pathname: path }: URL,
  remote: RemoteAddress | undefined,
): (status: number) => void {
  const askedAt = performance.now()
  return (status) => onRequest({ method, path, status, remote, ms: performance.now() - askedAt })
}
