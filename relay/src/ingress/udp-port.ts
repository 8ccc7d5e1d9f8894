// The dedicated UDP port of a lease: nobody else's while the lease lives, also while nothing can be delivered.

import { createSocket, type SocketType } from 'node:dgram'
import { once } from 'node:events'
import type { BoundPort } from '../lease/port-plane.ts'
import type { Tally } from '../metrics/tally.ts'

/** Bound on every address, as the SNI listener is. Rejects when that is not possible. */
export async function openUdpPort(port: number, tally: Tally): Promise<BoundPort> {
  try {
    return await bind('udp6', port, tally)
  } catch (error) {
    // A machine without IPv6.
    if ((error as NodeJS.ErrnoException).code !== 'EAFNOSUPPORT') throw error
    return await bind('udp4', port, tally)
  }
}

async function bind(type: SocketType, port: number, tally: Tally): Promise<BoundPort> {
  const socket = createSocket(type)
  socket.on('message', () => {
    tally.datagramsDropped += 1
  })
  socket.bind(port)
  try {
    await once(socket, 'listening')
  } catch (error) {
    socket.close()
    throw error
  }
  // What can fail from now on is one datagram.
  socket.on('error', () => {})
  return { close: () => socket.close() }
}
