// Opens a TCP connection to a peer from this relay's own address on the overlay, which identifies it to the peer.

import { once } from 'node:events'
import { connect, type Socket, type TcpNetConnectOpts } from 'node:net'
import { OVERLAY_CONNECT_DEADLINE_MS, OVERLAY_KEEP_ALIVE_MS } from './limits.ts'

/**
 * Resolves with the connection, to which the caller adds a listener for errors before it waits for anything else.
 * @throws Error of the system, or the reason of the signal or of the deadline
 */
export async function dialPeer(
  to: Required<Pick<TcpNetConnectOpts, 'host' | 'port' | 'localAddress'>>,
  signal?: AbortSignal,
): Promise<Socket> {
  const deadline = AbortSignal.timeout(OVERLAY_CONNECT_DEADLINE_MS)
  const ending = signal === undefined ? deadline : AbortSignal.any([signal, deadline])
  ending.throwIfAborted()
  const socket = connect({
    ...to,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: OVERLAY_KEEP_ALIVE_MS,
    allowHalfOpen: true,
  })
  try {
    await once(socket, 'connect', { signal: ending })
    return socket
  } catch (error) {
    socket.on('error', () => {}).destroy()
    throw ending.aborted ? ending.reason : error
  }
}
