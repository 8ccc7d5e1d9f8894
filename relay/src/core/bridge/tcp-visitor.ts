// Serves one visitor of a dedicated TCP port: claims a ready session, activates it as raw TCP, then bridges every byte.

import type { Duplex } from 'node:stream'
import { resetSocket } from '@svc/node-kit/sockets'
import { writeRawActivation } from '../reverse/marker.ts'
import { resetSession } from '../reverse/native-session.ts'
import type { PendingVisitor } from '../reverse/pending-visitor.ts'
import { HAND_OVER_RETRIES_MAX, type SessionClaimer } from './claim-session.ts'
import { screenFirstBytes } from './port-screen.ts'
import type { BridgeContext } from './tls-visitor.ts'

type TcpBridgeContext = Pick<BridgeContext, 'bandwidth' | 'claims' | 'pipe'>

/** Resolves when the visitor has disconnected, was refused, or was handed over to another process. */
export async function serveTcpVisitor(
  pending: PendingVisitor,
  { bandwidth, claims, pipe }: TcpBridgeContext,
): Promise<void> {
  const { visitor, lease } = pending
  const release = lease.onBlock(() => visitor.destroy())
  try {
    const session = await claimAgain(pending, whenClosed(visitor), claims)
    if (session === 'gone') return
    // An orderly end would look like an empty response.
    if (session === undefined) resetSocket(visitor)
    else {
      // In raw TCP either side may speak first, so the relay cannot claim another session when this one breaks.
      writeRawActivation(session, pending.addresses)
      // A reset tells the visitor that bytes are missing; raw TCP has no other sign of it.
      session.once('close', () => {
        if (!session.readableEnded) resetSocket(visitor)
      })
      // A reset tells the site the same.
      visitor.once('close', () => {
        if (!visitor.readableEnded) resetSession(session)
      })
      await pipe(visitor, session, bandwidth, (begin) => screenFirstBytes(visitor, session, lease, begin))
    }
  } finally {
    release()
  }
}

/** Claims again when a peer did not take the visitor. */
async function claimAgain(
  pending: PendingVisitor,
  closed: AbortSignal,
  claims: SessionClaimer,
): Promise<Duplex | 'gone' | undefined> {
  for (let attempt = 0; attempt <= HAND_OVER_RETRIES_MAX; attempt++) {
    const session = await claims.claim(pending, closed)
    if (session !== 'returned') return session
  }
  return undefined
}

/** Aborts when the socket closes. A client may end its half and still wait for an answer. */
function whenClosed(socket: Duplex): AbortSignal {
  const controller = new AbortController()
  const abort = () => controller.abort()
  if (socket.closed) abort()
  socket.once('close', abort)
  return controller.signal
}
