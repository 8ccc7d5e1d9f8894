// From what was asked to the web-standard Request that the handler gets.

import { HttpError } from './errors.ts'
import type { Field, Head } from './head.ts'

/**
 * @param body the stream of the body, when there is one
 * @throws HttpError `content_not_supported`
 */
export function makeRequest(
  head: Head,
  url: string,
  body: ReadableStream<Uint8Array> | undefined,
  signal: AbortSignal,
): Request {
  const headers = makeHeaders(head.fields)
  const init: RequestInit = { method: head.method, headers, signal }
  // Chromium takes a stream only from those who know that it is sent before the answer is read.
  if (body) Object.assign(init, { body, duplex: 'half' })
  const request = new Request(url, init)
  // An engine that does not stream what a page sends would give the handler "[object ReadableStream]" instead.
  if (body && request.body !== body) throw new HttpError('content_not_supported')
  return withHeaders(request, headers)
}

function makeHeaders(fields: readonly Field[]): Headers {
  const headers = new Headers()
  const cookies: string[] = []
  for (const [name, value] of fields) {
    if (name === 'cookie') cookies.push(value)
    else headers.append(name, value)
  }
  // `Headers` would join them with a comma, which is part of a cookie's value (RFC 6265 §5.4, RFC 9113 §8.2.3).
  if (cookies.length > 0) headers.set('cookie', cookies.join('; '))
  return headers
}

/**
 * In a page, the headers of a Request are guarded: it is made to be sent, and a page must not set Cookie, Origin,
 * Host, Referer and the like, so the constructor silently drops just what a server has to see. `Headers` made on their
 * own are not guarded. They take the place of the guarded ones on this request and on its clones. What the constructor
 * kept stays beneath them, so `formData()` still finds its boundary and `new Request(request)` its Content-Type.
 */
export function withHeaders(request: Request, headers: Headers): Request {
  Object.defineProperties(request, {
    headers: { value: headers, enumerable: true },
    clone: { value: () => withHeaders(Request.prototype.clone.call(request), new Headers(headers)) },
  })
  return request
}
