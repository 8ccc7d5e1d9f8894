// A native client's connection: after the 101 it is one reverse session, without any framing.

import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { RAW_UPGRADE } from '@svc/protocol'
import type { Lease } from '../lease/lease.ts'

const SWITCHING_PROTOCOLS = `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${RAW_UPGRADE}\r\n\r\n`

/** Of native sessions. */
const tcpSockets = new WeakMap<Duplex, Socket>()

/**
 * The lease's queue must have room. The session lives no longer than its lease, as a browser's does.
 * @param tcp what `socket` is the TLS connection over
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
  if (!lease.ready.offer(socket)) end()
}

/**
 * Breaks a session off in a way that does not look like its end: a yamux stream is reset by being destroyed, a native
 * session by a reset of the TCP connection, for Node's TLS sockets leave without a word.
 */
export function resetSession(session: Duplex): void {
  tcpSockets.get(session)?.resetAndDestroy()
  session.destroy()
}
