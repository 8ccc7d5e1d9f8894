// Cookies in a page: its Response drops Set-Cookie, which only a server may send. This one is a server.

import { SvcError } from '../errors.ts'
import { withHeaders } from './response-headers.ts'

/** RFC 6265 §4.1.1: a cookie is text without control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const COOKIE = /^[^\0-\x1f\x7f=;]+=[^\0-\x1f\x7f]*$/

/**
 * @param cookies values of Set-Cookie, such as `a=b; Path=/; HttpOnly; Secure`
 * @returns `response` itself. Headers made on their own take the place of its guarded ones, on it and on its clones;
 * a `new Response(body, response)` of the page's would drop the cookies again.
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
