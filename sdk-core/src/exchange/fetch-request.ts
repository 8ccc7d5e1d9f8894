// Makes the web-standard Request for the handler from a parsed request.

import type { Field } from '../semantics/fields.ts'
import type { RequestHead } from '../semantics/request-head.ts'

/**
 * Makes the Request.
 * @param body the stream of the body, when there is one
 */
export function makeRequest(
  head: RequestHead,
  url: string,
  body: ReadableStream<Uint8Array> | undefined,
  signal: AbortSignal,
): Request {
  return buildRequest(url, { method: head.method, headers: makeHeaders(head.fields), signal }, body)
}

/** Makes a Request with any method and fields, and with a body for any method. */
export function buildRequest(
  url: string,
  { method, headers, signal }: { method: string; headers: Headers; signal?: AbortSignal },
  body: ReadableStream<Uint8Array> | undefined,
): Request {
  // The constructor refuses TRACK, which is an ordinary method in RFC 9110.
  const carried = method === 'TRACK' ? 'POST' : method
  const init: RequestInit = { method: carried, headers, ...(signal && { signal }) }
  const request = body ? withBody(url, init, body, headers) : withHeaders(new Request(url, init), headers)
  return withMethod(request, method)
}

/**
 * Returns a request with a body. Chromium takes a stream only with `duplex: 'half'`. Firefox does not stream the body
 * of a Request, and would give the handler "[object ReadableStream]" instead, and no browser makes a GET or HEAD with
 * a body, which RFC 9110 §9.3.1 lets a visitor send. In these cases a Response holds the request's body.
 */
export function withBody(
  input: Request | string,
  init: RequestInit,
  body: ReadableStream<Uint8Array>,
  headers: Headers,
): Request {
  const method = init.method ?? (input as Request).method
  if (takesBody(method)) {
    const request = new Request(input, Object.assign({}, init, { body, duplex: 'half' }))
    if (request.body === body) return withMethod(withHeaders(request, headers), method)
  }
  const type = headers.get('content-type')
  const content = new Response(body, type === null ? {} : { headers: { 'Content-Type': type } })
  return withMethod(withHeaders(new Request(input, init), headers, content), method)
}

/** Returns whether this browser streams the body of a Request. */
export function sendsStreams(): boolean {
  const init = { method: 'POST', body: new ReadableStream(), duplex: 'half' }
  // A browser that does not converts the stream to text, and sets a Content-Type for it.
  return !new Request('https://localhost', init).headers.has('content-type')
}

/** Returns whether the Request constructor allows the method a body. Case does not matter. */
function takesBody(method: string): boolean {
  return !/^(?:get|head)$/i.test(method)
}

/**
 * Keeps the method as the visitor sent it, also on clones. A Request turns `get`, which is another method than GET
 * (RFC 9110 §9.1), into upper case.
 */
export function withMethod(request: Request, method: string): Request {
  if (request.method === method) return request
  const { clone } = request
  return Object.defineProperties(request, {
    method: { value: method, enumerable: true, configurable: true },
    clone: { value: () => withMethod(clone.call(request), method), configurable: true },
  })
}

/** Makes Headers that are not guarded. */
export function makeHeaders(fields: readonly Field[]): Headers {
  const headers = new Headers()
  const cookies: string[] = []
  for (const [name, value] of fields) {
    if (name === 'cookie') cookies.push(value)
    else headers.append(name, value)
  }
  // `Headers` would join cookies with a comma, which may be part of a value (RFC 6265 §5.4, RFC 9113 §8.2.3).
  if (cookies.length > 0) headers.set('cookie', cookies.join('; '))
  return headers
}

/**
 * Replaces the headers of the request and its clones with `headers`. In a page, a Request's own headers are guarded:
 * a page must not send Cookie, Origin, Host, Referer and the like, so the constructor silently drops what a
 * server needs. A separate `Headers` object is not guarded. The fields that the constructor kept remain underneath
 * it, so `formData()` still finds its boundary and `new Request(request)` its Content-Type.
 * @param content the Response that holds the body for the request
 */
export function withHeaders(request: Request, headers: Headers, content?: Response): Request {
  Object.defineProperties(request, {
    headers: { value: headers, enumerable: true, configurable: true },
    clone: {
      value: () => withHeaders(Request.prototype.clone.call(request), new Headers(headers), content?.clone()),
      configurable: true,
    },
  })
  if (content) readFrom(content, request)
  return request
}

/** The known lengths of streams that are the whole content of a Blob. */
export const blobLengths: WeakMap<ReadableStream, number> = new WeakMap()

const contents = new WeakMap<Request, Response>()

/** Returns the Response that holds the body for the request, if the request cannot hold it itself. */
export function contentOf(request: Request): Response | undefined {
  return contents.get(request)
}

const READERS = ['arrayBuffer', 'blob', 'bytes', 'formData', 'json', 'text'] as const

function readFrom(content: Response, request: Request): void {
  contents.set(request, content)
  const properties: PropertyDescriptorMap = {
    body: { get: () => content.body, enumerable: true, configurable: true },
    bodyUsed: { get: () => content.bodyUsed, enumerable: true, configurable: true },
  }
  for (const name of READERS) properties[name] = { value: () => content[name](), configurable: true }
  Object.defineProperties(request, properties)
}
