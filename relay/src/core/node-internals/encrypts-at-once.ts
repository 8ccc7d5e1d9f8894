// Tells whether a write copies its bytes before it returns, so that the caller can use their buffer again.

import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'

/** Node's TLS encrypts what it is given before `write` returns, unless an earlier write has to wait. */
export function encryptsAtOnce(to: Duplex): boolean {
  return to instanceof TLSSocket && to.writableLength === 0 && to.writableCorked === 0
}
