// One visitor of a dedicated TCP port: claim a ready session, mark it as raw, then bridge every byte.

import type { Socket } from 'node:net'
import { writeRawActivation } from '../reverse/marker.ts'
import { resetSession } from '../reverse/native-session.ts'
import type { PendingVisitor } from '../reverse/pending-visitor.ts'
import type { BridgeContext } from './tls-visitor.ts'

type TcpBridgeContext = Pick<BridgeContext, 'bandwidth' | 'claims' | 'pipe'>

/** Resolves when the visitor has left, was turned away, or is another process's. */
export async function serveTcpVisitor(
  pending: PendingVisitor,
  { bandwidth, claims, pipe }: TcpBridgeContext,
): Promise<void> {
  const { visitor, lease } = pending
  const release = lease.onBlock(() => visitor.destroy())
  try {
    const session = await claims.claim(pending, whenClosed(visitor))
    if (session === 'elsewhere') return
    // A reset, for an orderly end would look like an answer without a byte.
    if (session === undefined) visitor.resetAndDestroy()
    else {
      // Nobody knows who speaks first here. So unlike a TLS visitor this one cannot be claimed for again when the session breaks.
      writeRawActivation(session)
      // A reset here, too: nothing in raw TCP would tell a visitor that what came before an orderly end is not all.
      session.once('close', () => {
        if (!session.readableEnded) visitor.resetAndDestroy()
      })
      // Nor would it tell the service.
      visitor.once('close', () => {
        if (!visitor.readableEnded) resetSession(session)
      })
      await pipe(visitor, session, bandwidth)
    }
  } finally {
    release()
  }
}

/** A client may end its half and still wait for an answer. */
function whenClosed(socket: Socket): AbortSignal {
  const controller = new AbortController()
  const abort = () => controller.abort()
  if (socket.closed) abort()
  socket.once('close', abort)
  return controller.signal
}
