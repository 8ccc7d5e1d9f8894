// Opens the dedicated UDP port of a lease: a socket that receives datagrams with their addresses and sends to them.

import { type BindOptions, createSocket, type RemoteInfo, type SocketType } from 'node:dgram'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'

/**
 * Kernel buffer for datagrams that arrive while the relay is busy, if the system allows (`net.core.rmem_max`). Linux keeps twice
 * as much, and counts 2,304 bytes for a datagram of 1,150: some 20 ms of 10,000 a second.
 */
const UDP_RECEIVE_BUFFER_BYTES = 256 * 1024
/** Bytes that a lease's UDP socket may queue. The relay drops more. */
const UDP_SEND_QUEUE_MAX_BYTES = 1024 * 1024

/** A bound port. */
export interface BoundPort {
  /** Frees the port at once and closes its connections. */
  close(): void
}

export interface UdpPort extends BoundPort {
  /** Sends to an address from which a datagram came. @returns false when the kernel has no room */
  send(payload: Uint8Array, port: number, address: string): boolean
}

export type Received = (payload: Uint8Array, from: RemoteInfo) => void

/**
 * Opens a port. Rejects when it cannot be bound.
 * @param address local address. @default all addresses
 */
export async function openUdpPort(
  port: number,
  address: string | undefined,
  received: Received,
): Promise<UdpPort> {
  if (address !== undefined) return await bind(isIPv6(address) ? 'udp6' : 'udp4', { port, address }, received)
  try {
    return await bind('udp6', { port }, received)
  } catch (error) {
    // The machine has no IPv6.
    if ((error as NodeJS.ErrnoException).code !== 'EAFNOSUPPORT') throw error
    return await bind('udp4', { port }, received)
  }
}

async function bind(type: SocketType, at: BindOptions, received: Received): Promise<UdpPort> {
  const socket = createSocket({
    type,
    recvBufferSize: UDP_RECEIVE_BUFFER_BYTES,
    // The relay sends only to addresses, so there is nothing to resolve.
    lookup: (address, _options, callback) => callback(null, address, isIPv6(address) ? 6 : 4),
  })
  socket.on('message', received)
  // before it is bound: with that lookup it may be listening at once
  const listening = once(socket, 'listening')
  socket.bind(at)
  try {
    await listening
  } catch (error) {
    socket.close()
    throw error
  }
  // From now on, an error concerns only one datagram.
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
