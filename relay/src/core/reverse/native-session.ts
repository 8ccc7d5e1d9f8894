// Serves a native client's connection: after the 101 it is one reverse session, without any framing.

import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { resetSocket } from '@svc/node-kit/sockets'
import { RAW_UPGRADE } from '@svc/protocol'
import type { Lease } from '../lease/lease.ts'
import { readyQueueOf } from './ready-queues.ts'

const SWITCHING_PROTOCOLS = `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${RAW_UPGRADE}\r\n\r\n`

/** The TCP connection of each native session. */
const tcpSockets = new WeakMap<Duplex, Socket>()

/**
 * Offers the connection to the lease, whose ready queue must have room. The session ends with its lease.
 * @param tcp the TCP connection under the TLS connection `socket`
 */
export function serveNativeSession(socket: Duplex, lease: Lease, tcp: Socket | undefined): void {
  if (tcp) tcpSockets.set(socket, tcp)
  const end = () => socket.destroy()
  lease.ended.addEventListener('abort', end)
  const release = lease.onBlock(end)
  socket.once('close', () => {
    lease.ended.removeEventListener('abort', end)
    release()
  })
  socket.write(SWITCHING_PROTOCOLS)
  if (!readyQueueOf(lease).offer(socket)) end()
}

/**
 * Resets a session, so that the SDK does not take it for an orderly end. A yamux stream is reset when it is destroyed. A
 * native session needs a reset of its TCP connection, because a destroyed TLS socket of Node only ends it.
 */
export function resetSession(session: Duplex): void {
  resetSocket(tcpSockets.get(session), session)
}
