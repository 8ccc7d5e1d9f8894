// A request to a target, whatever the version of HTTP, and its head in HTTP/1.1.

import { type DirectBody, endToEnd, type Field, type Inform } from '@svc/sdk-core'

/** OutgoingRequest is a request as the target has to get it. */
export interface OutgoingRequest {
  method: string
  /** The path that the visitor requested, without its query, for the text of a fault. */
  path: string
  /** Path and query at the target. */
  target: string
  /** The fields, first of them the host, without those of a connection. */
  fields: Field[]
  /** Undefined when there is no content. */
  body: DirectBody | undefined
  /** True when the visitor sent `Expect: 100-continue`. */
  expectsContinue: boolean
  /** True when the visitor takes trailers. */
  takesTrailers: boolean
  /** Called with interim responses other than 100. */
  inform: Inform | undefined
  /** Maps the end-to-end fields of the response. */
  readFields(fields: Field[]): Field[]
  /** Selects the trailers of the request that the target may get. */
  readTrailers(fields: readonly Field[]): Field[]
}

/** The media types of gRPC over HTTP/2. That of gRPC-Web, which any version of HTTP carries, is another one. */
const GRPC = /^application\/grpc(?:$|[+;])/i

/** Requests of these methods say so when they have no content (RFC 9110 §8.6): a server might wait for it. */
const USUALLY_WITH_CONTENT: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])
/** The field of which the visitor's framing is made anew. */
const FRAMING = ['content-length']

/** Says whether a request is a call of gRPC, which HTTP/2 alone carries. */
export function isGrpc(fields: readonly Field[]): boolean {
  return fields.some(([name, value]) => name === 'content-type' && GRPC.test(value))
}

/** Says whether the content has the chunked coding in HTTP/1.1. */
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

/** Returns the fields of a response, or its trailers, that the visitor gets, without those of a connection and of framing. */
export function passedFields({ readFields }: OutgoingRequest, fields: readonly Field[]): Field[] {
  return readFields(endToEnd(fields, FRAMING))
}
