// Sets cookies in a page that is a server: a page's Response drops Set-Cookie, which only servers may send.

import { SvcError } from '../errors.ts'
import { withHeaders } from './response-headers.ts'

/** A cookie is text without control characters (RFC 6265 §4.1.1). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern refuses them
const COOKIE = /^[^\0-\x1f\x7f=;]+=[^\0-\x1f\x7f]*$/

/**
 * Adds cookies to a response.
 * @param cookies values of Set-Cookie, such as `a=b; Path=/; HttpOnly; Secure`
 * @returns `response` itself, with unguarded headers, also on its clones. A `new
 *   Response(body, response)` in the page would drop the cookies again.
 */
export function withCookies(response: Response, cookies: readonly string[]): Response {
  const headers = new Headers(response.headers)
  for (const cookie of cookies) {
    if (!COOKIE.test(cookie))
      throw new SvcError('invalid_option', 'a cookie must be "name=value", optionally followed by attributes')
    headers.append('Set-Cookie', cookie)
  }
  return withHeaders(response, headers)
}
