// Keeps overlay peers away from the public listeners.

import type { Server, Socket } from 'node:net'
import { resetSocket } from '@svc/node-kit/sockets'
import { isOnOverlay } from '../client-address/ip-address.ts'

/**
 * Refuses connections to the relay's overlay address, which a listener on all addresses also receives. The firewall
 * rules of the interface refuse them too, but another program may remove those.
 * @param overlayPort where peers are served; undefined: the relay makes no overlay
 */
export function refuseOverlayPeers(server: Server, overlayPort: number | undefined): void {
  if (overlayPort === undefined) return
  server.prependListener('connection', (socket: Socket) => {
    // Visitors that another relay hands over arrive at the overlay server.
    if (isOnOverlay(socket.localAddress ?? '') && socket.localPort !== overlayPort) resetSocket(socket)
  })
}
