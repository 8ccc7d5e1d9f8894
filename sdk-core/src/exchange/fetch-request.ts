// A parsed request as the web-standard Request that the handler is called with.

import type { Field } from '../semantics/fields.ts'
import type { RequestHead } from '../semantics/request-head.ts'

/** @param body the stream of the body, when there is one */
export function makeRequest(
  head: RequestHead,
  url: string,
  body: ReadableStream<Uint8Array> | undefined,
  signal: AbortSignal,
): Request {
  return buildRequest(url, { method: head.method, headers: makeHeaders(head.fields), signal }, body)
}

/** A Request with any method, any fields, and with a body whatever the method. */
export function buildRequest(
  url: string,
  { method, headers, signal }: { method: string; headers: Headers; signal?: AbortSignal },
  body: ReadableStream<Uint8Array> | undefined,
): Request {
  // The constructor refuses TRACK, which is a method like any other to RFC 9110.
  const carried = method === 'TRACK' ? 'POST' : method
  const init: RequestInit = { method: carried, headers, ...(signal && { signal }) }
  const request = body ? withBody(url, init, body, headers) : withHeaders(new Request(url, init), headers)
  return withMethod(request, method)
}

/**
 * Chromium takes a stream only from those who know that it is sent before the answer is read. Firefox streams nothing
 * that a page sends, and would give the handler "[object ReadableStream]" instead, and no engine makes a GET or HEAD with
 * a body, which RFC 9110 §9.3.1 lets a visitor send: there a Response reads for the request.
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

/** Whether this engine sends a stream as it comes. */
export function sendsStreams(): boolean {
  const init = { method: 'POST', body: new ReadableStream(), duplex: 'half' }
  // what became of the stream is text, and has its type
  return !new Request('https://localhost', init).headers.has('content-type')
}

/** Of the Fetch standard's constructor, which compares these names in any case. */
function takesBody(method: string): boolean {
  return !/^(?:get|head)$/i.test(method)
}

/**
 * A Request writes `get`, which is another method than GET (RFC 9110 §9.1), in upper case. The handler sees the method
 * as it was sent, on clones, too.
 */
export function withMethod(request: Request, method: string): Request {
  if (request.method === method) return request
  const { clone } = request
  return Object.defineProperties(request, {
    method: { value: method, enumerable: true, configurable: true },
    clone: { value: () => withMethod(clone.call(request), method), configurable: true },
  })
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
    headers: { value: headers, enumerable: true, configurable: true },
    clone: {
      value: () => withHeaders(Request.prototype.clone.call(request), new Headers(headers), content?.clone()),
      configurable: true,
    },
  })
  if (content) readFrom(content, request)
  return request
}

const contents = new WeakMap<Request, Response>()

/** What has the body in the request's place, if that cannot have it itself. */
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
