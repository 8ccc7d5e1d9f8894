// Makes the header fields of a request to the target: the SDK says where the request came from, whatever the visitor said.

import { withoutForwardedFields } from '@svc/sdk-core'

/**
 * The target keeps its own Host, so that a development server does not refuse it; which name the visitor used is in
 * `X-Forwarded-Host`. The visitor's address is known to the relay only, so RFC 7239 §6.3's `unknown` stands for it.
 */
export function forwardedFields(request: Request, target: URL): Record<string, string> {
  const { host } = new URL(request.url)
  return {
    ...Object.fromEntries(withoutForwardedFields(request.headers, ['host', 'expect'])),
    host: target.host,
    forwarded: `for=unknown;host="${host}";proto=https`,
    'x-forwarded-for': 'unknown',
    'x-forwarded-host': host,
    'x-forwarded-proto': 'https',
  }
}
