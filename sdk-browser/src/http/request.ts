// From what was asked to the web-standard Request that the handler gets.

import type { Field, Head } from './head.ts'

/** @param body the stream of the body, when there is one */
export function makeRequest(
  head: Head,
  url: string,
  body: ReadableStream<Uint8Array> | undefined,
  signal: AbortSignal,
): Request {
  const headers = makeHeaders(head.fields)
  const init: RequestInit = { method: head.method, headers, signal }
  return body ? withBody(url, init, body, headers) : withHeaders(new Request(url, init), headers)
}

/**
 * Chromium takes a stream only from those who know that it is sent before the answer is read. Firefox streams nothing
 * that a page sends, and would give the handler "[object ReadableStream]" instead: there a Response reads for it.
 */
export function withBody(
  input: Request | string,
  init: RequestInit,
  body: ReadableStream<Uint8Array>,
  headers: Headers,
): Request {
  const request = new Request(input, Object.assign({}, init, { body, duplex: 'half' }))
  if (request.body === body) return withHeaders(request, headers)
  const type = headers.get('content-type')
  const content = new Response(body, type === null ? {} : { headers: { 'Content-Type': type } })
  return withHeaders(new Request(input, init), headers, content)
}

/** Whether this engine sends a stream as it comes. */
export function sendsStreams(): boolean {
  const init = { method: 'POST', body: new ReadableStream(), duplex: 'half' }
  // what became of the stream is text, and has its type
  return !new Request('https://localhost', init).headers.has('content-type')
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
 * @param content what has the body in the request's place
 */
export function withHeaders(request: Request, headers: Headers, content?: Response): Request {
  Object.defineProperties(request, {
    headers: { value: headers, enumerable: true },
    clone: {
      value: () => withHeaders(Request.prototype.clone.call(request), new Headers(headers), content?.clone()),
    },
  })
  if (content) readFrom(content, request)
  return request
}

const READERS = ['arrayBuffer', 'blob', 'bytes', 'formData', 'json', 'text'] as const

function readFrom(content: Response, request: Request): void {
  const properties: PropertyDescriptorMap = {
    body: { get: () => content.body, enumerable: true },
    bodyUsed: { get: () => content.bodyUsed, enumerable: true },
  }
  for (const name of READERS) properties[name] = { value: () => content[name]() }
  Object.defineProperties(request, properties)
}
