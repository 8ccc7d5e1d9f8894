// Sets cookies in a page, whose Response drops Set-Cookie, since only a server may send it. This page is a server.

import { SvcError } from '../errors.ts'
import { withHeaders } from './response-headers.ts'

/** A cookie is text without control characters (RFC 6265 §4.1.1). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const COOKIE = /^[^\0-\x1f\x7f=;]+=[^\0-\x1f\x7f]*$/

/**
 * Adds cookies to a response.
 * @param cookies values of Set-Cookie, such as `a=b; Path=/; HttpOnly; Secure`
 * @returns `response` itself. Headers without a guard take the place of its own, on it and on its clones. A `new
 *   Response(body, response)` in the page would drop the cookies again.
 */
export function withCookies(response: Response, cookies: readonly string[]): Response {
  const headers = new Headers(response.headers)
  for (const cookie of cookies) {
    if (!COOKIE.test(cookie))
      throw new SvcError('invalid_option', 'a cookie has to be "name=value", attributes after it')
    headers.append('Set-Cookie', cookie)
  }
  return withHeaders(response, headers)
}
