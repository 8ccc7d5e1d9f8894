// Tells whether a write to TLS copies its bytes before it returns, so that the caller can use their memory again.

import type { TLSSocket } from 'node:tls'

/** Node's TLS encrypts what it is given before `write` returns, unless an earlier write has to wait. */
export function encryptsAtOnce(to: TLSSocket): boolean {
  return to.writableLength === 0 && to.writableCorked === 0
}
