// A request to a target, of any HTTP version, and its head in HTTP/1.1.

import { type DirectBody, endToEnd, type Field, type Inform } from '@svc/sdk-core'

/** OutgoingRequest is a request for the target. */
export interface OutgoingRequest {
  method: string
  /** The requested path without its query, for error messages. */
  path: string
  /** The path and query at the target. */
  target: string
  /** The fields, host first, without hop-by-hop ones. */
  fields: Field[]
  /** Undefined when there is no content. */
  body: DirectBody | undefined
  /** True when the visitor sent `Expect: 100-continue`. */
  expectsContinue: boolean
  /** True when the visitor accepts trailers. */
  takesTrailers: boolean
  /** Called with interim responses other than 100. */
  inform: Inform | undefined
  /** Maps the end-to-end fields of the response. */
  readFields(fields: Field[]): Field[]
  /** Selects the trailers of the request that the target may get. */
  readTrailers(fields: readonly Field[]): Field[]
}

/** Methods whose requests declare empty content (RFC 9110 §8.6), for which a server might otherwise wait. */
const USUALLY_WITH_CONTENT: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])
/** The framing field, which is set anew. */
const FRAMING = ['content-length']

/** Returns whether the content is chunked in HTTP/1.1. */
export function isChunked({ body, fields }: OutgoingRequest): boolean {
  return body !== undefined && !fields.some(([name]) => name === 'content-length')
}

/** Returns the request line and the fields in HTTP/1.1, with the framing of the content and the empty line. */
export function encodeHead(request: OutgoingRequest): string {
  const { method, target, fields, body, expectsContinue } = request
  let head = `${method} ${target} HTTP/1.1\r\n`
  let hasLength = false
  for (const [name, value, written] of fields) {
    head += `${written ?? name}: ${value}\r\n`
    if (name === 'content-length') hasLength = true
  }
  if (isChunked(request)) head += 'Transfer-Encoding: chunked\r\n'
  else if (!hasLength && USUALLY_WITH_CONTENT.has(method)) head += 'Content-Length: 0\r\n'
  if (body !== undefined && expectsContinue) head += 'Expect: 100-continue\r\n'
  return `${head}\r\n`
}

/** Returns a response's fields or trailers for the visitor, without hop-by-hop and framing fields. */
export function passedFields({ readFields }: OutgoingRequest, fields: readonly Field[]): Field[] {
  return readFields(endToEnd(fields, FRAMING))
}
