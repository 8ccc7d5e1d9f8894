// Cross-origin rules: a page of any origin may embed the SDK, so `/sdk/*` and `/v1/sign` answer them all.

import type { ServerResponse } from 'node:http'
import { CORS_MAX_AGE_S, HEADER, PATH } from '@svc/protocol'

export function isCrossOrigin(path: string): boolean {
  return path.startsWith('/sdk/') || path === PATH.sign
}

export function allowAnyOrigin(response: ServerResponse): void {
  response.setHeader('Access-Control-Allow-Origin', '*')
  // Else a page could not tell what time it is here, how long `rate_limited` asks it to wait, nor which request to ask the
  // operator about.
  response.setHeader('Access-Control-Expose-Headers', `Date, Retry-After, ${HEADER.requestId}`)
}

/** Answers a preflight (Fetch §3.2.2) for a path that takes `methods`. */
export function sendPreflight(response: ServerResponse, methods: readonly string[]): void {
  response.writeHead(204, {
    'Access-Control-Allow-Methods': methods.join(', '),
    'Access-Control-Allow-Headers': `Content-Type, ${HEADER.accessToken}`,
    'Access-Control-Max-Age': `${CORS_MAX_AGE_S}`,
  })
  response.end()
}
