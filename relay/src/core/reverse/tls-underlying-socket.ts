// Finds the TCP connection under a TLS connection of the API by the peer's address and port, since Node does not expose
// it.

import type { Socket } from 'node:net'

export class UnderlyingSockets {
  /** Open connections by address and port of the peer. */
  readonly #open = new Map<string, Socket>()

  add(socket: Socket): void {
    const key = keyOf(socket)
    this.#open.set(key, socket)
    socket.once('close', () => {
      // another connection may come from the same port before this one is known to be closed
      if (this.#open.get(key) === socket) this.#open.delete(key)
    })
  }

  beneath(tls: Socket): Socket | undefined {
    return this.#open.get(keyOf(tls))
  }
}

function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
