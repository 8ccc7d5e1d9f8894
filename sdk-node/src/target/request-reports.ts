// Reports each request that a handler answers.

import type { FetchHandler } from '@svc/sdk-core'

/** RequestReport is one request and how it was answered. */
export interface RequestReport {
  method: string
  /** The path without its query, which may hold secrets of the visitor. */
  path: string
  status: number
  /** Milliseconds until the head of the response was there. */
  ms: number
}

/** OnRequest is called with a report of each request that was answered. */
export type OnRequest = (report: RequestReport) => void

export function reportingRequests(onRequest: OnRequest | undefined, handler: FetchHandler): FetchHandler {
  if (!onRequest) return handler
  return async (request, info) => {
    const askedAt = performance.now()
    const response = await handler(request, info)
    const { pathname: path } = new URL(request.url)
    onRequest({
      method: request.method,
      path,
      status: response.status,
      ms: performance.now() - askedAt,
    })
    return response
  }
}
