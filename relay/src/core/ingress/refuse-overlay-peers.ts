// Keeps overlay peers away from the public listeners.

import type { Server, Socket } from 'node:net'
import { resetSocket } from '@svc/node-kit/sockets'
import { isOnOverlay } from '../client-address/ip-address.ts'
import { OVERLAY_PORT } from '../config/overlay-settings.ts'

/**
 * Refuses connections to the relay's overlay address, which a listener on all addresses also receives. The firewall
 * rules of the interface refuse them too, but another program may remove those.
 */
export function refuseOverlayPeers(server: Server): void {
  server.prependListener('connection', (socket: Socket) => {
    // Visitors that another relay hands over arrive at the overlay server.
    if (isOnOverlay(socket.localAddress ?? '') && socket.localPort !== OVERLAY_PORT) resetSocket(socket)
  })
}
