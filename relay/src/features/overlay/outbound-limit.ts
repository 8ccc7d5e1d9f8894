// Bounds the connections that this relay opens to others over the overlay: each costs a file descriptor in addition to
// the visitor's or site's.

import type { Socket } from 'node:net'
import type { OverlayNetwork } from './overlay-network.ts'

/** @returns the network; `connect` rejects while the maximum of connections is open or opening */
export function limitOutbound(network: OverlayNetwork, connectionsMax: number): OverlayNetwork {
  let open = 0
  return {
    address: network.address,
    get isUp() {
      return network.isUp
    },
    peers: () => network.peers(),
    peerOf: (identity) => network.peerOf(identity),
    peerAt: (overlayAddress) => network.peerAt(overlayAddress),
    close: () => network.close(),
    connect: async (peer, signal) => {
      if (open >= connectionsMax) throw new Error('no room for another connection to a relay')
      open += 1
      let socket: Socket
      try {
        socket = await network.connect(peer, signal)
      } catch (error) {
        open -= 1
        throw error
      }
      if (socket.closed) open -= 1
      else socket.once('close', () => (open -= 1))
      return socket
    },
  }
}
