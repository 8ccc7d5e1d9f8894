// A native client's connection: after the 101 it is one reverse session, without any framing.

import type { Duplex } from 'node:stream'
import { RAW_UPGRADE } from '@svc/protocol'
import type { Lease } from '../lease/lease.ts'

const SWITCHING_PROTOCOLS = `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${RAW_UPGRADE}\r\n\r\n`

/** The lease's queue must have room. The session lives no longer than its lease, as a browser's does. */
export function serveNative(socket: Duplex, lease: Lease): void {
  const end = () => socket.destroy()
  lease.ended.addEventListener('abort', end)
  const release = lease.onBar(end)
  socket.once('close', () => {
    lease.ended.removeEventListener('abort', end)
    release()
  })
  socket.write(SWITCHING_PROTOCOLS)
  if (!lease.ready.offer(socket)) end()
}
