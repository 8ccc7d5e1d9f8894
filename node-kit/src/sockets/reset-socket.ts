// Resets a TCP connection and gives its descriptor back in every state of the socket.

import type { Duplex } from 'node:stream'

/** A TCP socket, or what stands for one of another machine. */
interface Resettable extends Duplex {
  readonly connecting?: boolean
  resetAndDestroy(): unknown
}

/**
 * Breaks a connection off, so that the peer does not take what it has got for all. Node's `resetAndDestroy()` leaves the
 * descriptor open for ever where the system refuses the reset, which it does while the socket's `end()` is under way. All bytes
 * have left by then, and the socket is closed without a reset.
 * @param tcp undefined where only the TLS connection is known
 * @param tls the TLS connection over it, whose `end()` is one of the socket, too
 */
export function resetSocket(tcp: Resettable | undefined, tls?: Duplex): void {
  if (tcp?.connecting || (tcp && isEnding(tcp)) || (tls && isEnding(tls))) tcp?.destroy()
  else tcp?.resetAndDestroy()
  tls?.destroy()
}

/** True from the moment at which the last byte was written until the system has shut the socket's half down. */
function isEnding({ writableEnded, writableFinished, writableLength }: Duplex): boolean {
  return writableEnded && !writableFinished && writableLength === 0
}
