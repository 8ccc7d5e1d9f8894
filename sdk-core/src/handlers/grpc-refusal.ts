// Refusals of gRPC calls by handlers.

import { UNCACHED } from './sessions/answers.ts'

/** Status codes of gRPC. */
export const GRPC_STATUS = { unimplemented: 12, unauthenticated: 16 } as const

/** What a message has to encode: all but printable ASCII, and the sign of the encoding itself. */
const ENCODED = /[^\x20-\x24\x26-\x7e]/gu

/** Returns a refusal as a client of gRPC reads it: its status is in the head of a response without content ("Trailers-Only"). */
export function grpcRefusal(status: keyof typeof GRPC_STATUS, message: string): Response {
  const headers = {
    ...UNCACHED,
    'Content-Type': 'application/grpc',
    'Grpc-Status': String(GRPC_STATUS[status]),
    'Grpc-Message': message.replaceAll(ENCODED, encodeURIComponent),
  }
  return new Response(null, { headers })
}
