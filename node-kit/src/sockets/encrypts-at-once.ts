// Tells whether a write copies its bytes before it returns, so that the caller can reuse their memory.

import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'

/** Returns whether `write` encrypts its bytes before it returns: Node's TLS does, unless an earlier write waits. */
export function encryptsAtOnce(to: Duplex): boolean {
  return to instanceof TLSSocket && to.writableLength === 0 && to.writableCorked === 0
}
