// Resets a TCP connection and releases its descriptor in every state of the socket.

import type { Duplex } from 'node:stream'

/** A TCP socket, or a proxy for one of another machine. */
interface Resettable extends Duplex {
  readonly connecting?: boolean
  resetAndDestroy(): unknown
}

/**
 * Resets a connection, so that the peer does not mistake the received bytes for everything. Node's `resetAndDestroy()` leaks the
 * descriptor when the system refuses the reset, which it does while the socket's `end()` is in progress. By then all bytes
 * were sent, so the socket is closed without a reset.
 * @param tcp undefined when only the TLS connection is known
 * @param tls the TLS connection over it, whose `end()` also ends the socket
 */
export function resetSocket(tcp: Resettable | undefined, tls?: Duplex): void {
  if (tcp?.connecting || (tcp && isEnding(tcp)) || (tls && isEnding(tls))) tcp?.destroy()
  else tcp?.resetAndDestroy()
  tls?.destroy()
}

/** Returns true from the last write until the system has shut down the socket's direction. */
function isEnding({ writableEnded, writableFinished, writableLength }: Duplex): boolean {
  return writableEnded && !writableFinished && writableLength === 0
}
