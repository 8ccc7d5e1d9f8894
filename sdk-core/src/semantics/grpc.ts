// gRPC over HTTP/2: its calls are told by their media type, and end in trailers.

import type { Field } from './fields.ts'

/** The media types of gRPC over HTTP/2. gRPC-Web, which works over any HTTP version, has others. */
const GRPC = /^application\/grpc(?:$|[+;])/i

/** Returns whether a request is a gRPC call, which needs HTTP/2. */
export function isGrpc(fields: readonly Field[]): boolean {
  return fields.some(([name, value]) => name === 'content-type' && GRPC.test(value))
}
