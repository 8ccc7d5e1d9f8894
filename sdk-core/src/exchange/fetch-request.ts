// Makes of a parsed request the web-standard Request with which the handler is called.

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

/** Makes a Request with any method, any fields, and with a body whatever the method. */
export function buildRequest(
  url: string,
  { method, headers, signal }: { method: string; headers: Headers; signal?: AbortSignal },
  body: ReadableStream<Uint8Array> | undefined,
): Request {
  // The constructor refuses TRACK, which RFC 9110 treats like any other method.
  const carried = method === 'TRACK' ? 'POST' : method
  const init: RequestInit = { method: carried, headers, ...(signal && { signal }) }
  const request = body ? withBody(url, init, body, headers) : withHeaders(new Request(url, init), headers)
  return withMethod(request, method)
}

/**
 * Returns a request with a body. Chromium takes a stream only with `duplex: 'half'`. Firefox does not stream the body
 * of a Request, and would give the handler "[object ReadableStream]" instead, and no engine makes a GET or HEAD with
 * a body, which RFC 9110 §9.3.1 lets a visitor send. In these cases a Response holds the body for the request.
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

/** Returns whether this engine sends a stream as it comes. */
export function sendsStreams(): boolean {
  const init = { method: 'POST', body: new ReadableStream(), duplex: 'half' }
  // An engine that does not makes text of the stream, and gives the Request a type for it.
  return !new Request('https://localhost', init).headers.has('content-type')
}

/** Says whether the constructor of the Fetch standard lets the method have a body. It compares in any case. */
function takesBody(method: string): boolean {
  return !/^(?:get|head)$/i.test(method)
}

/**
 * Keeps the method as the visitor sent it, on clones, too. A Request writes `get`, which is another method than GET
 * (RFC 9110 §9.1), in upper case.
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
  // `Headers` would join cookies with a comma, which may be part of a value (RFC 6265 §5.4, RFC 9113 §8.2.3).
  if (cookies.length > 0) headers.set('cookie', cookies.join('; '))
  return headers
}

/**
 * Puts `headers` in the place of the request's own, on it and on its clones. In a page those of a Request are guarded:
 * a page must not send Cookie, Origin, Host, Referer and the like, so the constructor silently drops just what a
 * server has to see. `Headers` made on their own are not guarded. The fields that the constructor kept stay beneath
 * them, so `formData()` still finds its boundary and `new Request(request)` its Content-Type.
 * @param content the Response that has the body in the request's place
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

/** The lengths of streams that are the whole content of a Blob, as far as they are known. */
export const blobLengths: WeakMap<ReadableStream, number> = new WeakMap()

const contents = new WeakMap<Request, Response>()

/** Returns the Response that has the body in the request's place, if the request cannot have it itself. */
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
