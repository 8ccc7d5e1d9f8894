// The dedicated UDP port of a lease: a socket that tells who sent what, and sends from the same address.

import { createSocket, type RemoteInfo, type SocketType } from 'node:dgram'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'
import { UDP_RECEIVE_BUFFER_BYTES, UDP_SEND_QUEUE_MAX_BYTES } from '../limits.ts'
import type { BoundPort } from './port-allocator.ts'

export interface UdpPort extends BoundPort {
  /** @param address as it was told with a datagram @returns false when the kernel has no room */
  send(payload: Uint8Array, port: number, address: string): boolean
}

export type Received = (payload: Uint8Array, from: RemoteInfo) => void

/** Bound on every address, as the SNI listener is. Rejects when that is not possible. */
export async function openUdpPort(port: number, received: Received): Promise<UdpPort> {
  try {
    return await bind('udp6', port, received)
  } catch (error) {
    // A machine without IPv6.
    if ((error as NodeJS.ErrnoException).code !== 'EAFNOSUPPORT') throw error
    return await bind('udp4', port, received)
  }
}

async function bind(type: SocketType, port: number, received: Received): Promise<UdpPort> {
  const socket = createSocket({
    type,
    recvBufferSize: UDP_RECEIVE_BUFFER_BYTES,
    // Only addresses are sent to: nothing is to be resolved.
    lookup: (address, _options, callback) => callback(null, address, isIPv6(address) ? 6 : 4),
  })
  socket.on('message', received)
  // before it is bound: with that lookup it may be listening at once
  const listening = once(socket, 'listening')
  socket.bind(port)
  try {
    await listening
  } catch (error) {
    socket.close()
    throw error
  }
  // What can fail from now on is one datagram.
  socket.on('error', () => {})
  return {
    close: () => socket.close(),
    send: (payload, port, address) => {
      if (socket.getSendQueueSize() > UDP_SEND_QUEUE_MAX_BYTES) return false
      socket.send(payload, port, address)
      return true
    },
  }
}
