// Keeps peers of the overlay from the listeners that are for everybody else.

import type { Server, Socket } from 'node:net'
import { resetSocket } from '@svc/node-kit/sockets'
import { isOnOverlay } from '../client-address/ip-address.ts'
import { OVERLAY_PORT } from '../config/overlay-settings.ts'

/**
 * Refuses connections to the relay's overlay address: a listener at all addresses is there, too. The rules of the interface keep peers
 * away as well, but another program may remove them. For a relay that makes an overlay.
 */
export function refuseOverlayPeers(server: Server): void {
  server.prependListener('connection', (socket: Socket) => {
    // The visitors that another relay hands over came in at the overlay server.
    if (isOnOverlay(socket.localAddress ?? '') && socket.localPort !== OVERLAY_PORT) resetSocket(socket)
  })
}
