// Allows cross-origin requests to `/sdk/*`, `/v1/sign`, two paths of discovery, the payment facilitator and the SDK's files:
// pages of any origin may embed the SDK.

import type { ServerResponse } from 'node:http'
import { BROWSER_SLUGS, CORS_MAX_AGE_S, HEADER, installBinPath, PATH } from '@svc/protocol'
import { isPaymentPath } from './payment-failure.ts'

const CROSS_ORIGIN = new Set<string>([
  PATH.sign,
  PATH.discovery,
  PATH.discoverySite,
  PATH.sdkEntry,
  ...BROWSER_SLUGS.map(installBinPath),
])

export function isCrossOrigin(path: string): boolean {
  return path.startsWith('/sdk/') || CROSS_ORIGIN.has(path) || isPaymentPath(path)
}

export function allowAnyOrigin(response: ServerResponse): void {
  response.setHeader('Access-Control-Allow-Origin', '*')
  // Pages need the relay's time, the delay after `rate_limited`, and the request ID for questions to the operator.
  response.setHeader('Access-Control-Expose-Headers', `Date, Retry-After, ${HEADER.requestId}`)
}

/** Answers a preflight (Fetch §3.2.2) for a path that allows `methods`. */
export function sendPreflight(response: ServerResponse, methods: readonly string[]): void {
  response.writeHead(204, {
    'Access-Control-Allow-Methods': methods.join(', '),
    'Access-Control-Allow-Headers': `Content-Type, ${HEADER.accessToken}`,
    'Access-Control-Max-Age': `${CORS_MAX_AGE_S}`,
  })
  response.end()
}
