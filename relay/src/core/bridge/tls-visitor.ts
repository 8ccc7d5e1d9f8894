// Serves one TLS visitor: claims a ready session, activates it, replays the ClientHello, then bridges every byte.

import type { Duplex } from 'node:stream'
import { ALERT, alertRecord } from '@svc/tls/messages'
import type { PeekedHello } from '../ingress/client-hello.ts'
import type { BindingStore } from '../keyless/bindings.ts'
import type { Bandwidth } from '../rate-limit/bandwidth.ts'
import { writeTlsActivation } from '../reverse/marker.ts'
import type { PendingVisitor } from '../reverse/pending-visitor.ts'
import { endedWithCarrier, livenessOf } from '../reverse/stream-duplex.ts'
import { CARRIER_PROBE_AFTER_MS, HAND_OVER_RETRIES_MAX, type SessionClaimer } from './claim-session.ts'
import type { Pipe } from './pipe.ts'

/** Further sessions for a visitor whose sessions broke before they answered the ClientHello. */
const CLAIM_RETRIES_MAX = 2
/** Time for a claimed session to answer the ClientHello: the page's own handshake timeout. */
export const FIRST_BYTE_DEADLINE_MS = 15_000

export interface BridgeContext {
  bindings: BindingStore
  /** Bandwidth of the lease's identity. */
  bandwidth: Bandwidth
  claims: SessionClaimer
  pipe: Pipe
}

/** A visitor who has sent a ClientHello. */
type PendingTlsVisitor = PendingVisitor & { hello: PeekedHello }

/** Resolves when the visitor has disconnected, was refused, or was handed over to another process. */
export async function serveTlsVisitor(pending: PendingTlsVisitor, bridging: BridgeContext): Promise<void> {
  const { visitor, lease, hello } = pending
  const release = lease.onBlock(() => visitor.destroy(), hello.serverName)
  try {
    await bridge(pending, bridging)
  } finally {
    release()
  }
}

async function bridge(
  pending: PendingTlsVisitor,
  { bindings, bandwidth, claims, pipe }: BridgeContext,
): Promise<void> {
  const { visitor, hello, lease } = pending
  const disconnected = whenDisconnected(visitor)
  let current = pending
  let returned = 0
  while (current.sessionsLost <= CLAIM_RETRIES_MAX && returned <= HAND_OVER_RETRIES_MAX) {
    const session = await claims.claim(current, disconnected)
    if (session === 'gone') return
    if (session === undefined) break
    if (session === 'returned') {
      returned += 1
      continue
    }
    // The binding of a route's first relay stays the same. If the lost session has used it, the next handshake fails,
    // and the visitor is no worse off than without a retry.
    const binding = pending.binding ?? bindings.issue(lease, hello.message)
    writeTlsActivation(session, binding, current.addresses)
    session.write(hello.received)
    const hasResponded = await waitForFirstByte(session, disconnected)
    if (hasResponded) await pipe(visitor, session, bandwidth)
    bindings.revoke(binding)
    if (hasResponded) return
    session.destroy()
    // The session is not to blame for a visitor who disconnects.
    if (disconnected.aborted) break
    const isSilent = livenessOf(session)?.isSilent === true
    if (!isSilent && !endedWithCarrier(session)) claims.sessionLost(current)
    // When the page fell silent, the visitor may have a newer session: no visitor made the page open it.
    const arrivedAt = isSilent ? performance.now() : current.arrivedAt
    current = { ...current, arrivedAt, sessionsLost: current.sessionsLost + 1, handedOverBy: undefined }
  }
  visitor.end(alertRecord(ALERT.internal_error))
}

/**
 * Resolves with whether the session answers the ClientHello, which every TLS server does before it needs more. A
 * session that breaks earlier was dead, or the SDK closed it while the marker was in flight; the visitor can have
 * another one.
 */
function waitForFirstByte(session: Duplex, disconnected: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = () => {
      clearTimeout(deadline)
      clearTimeout(probeTimer)
      session.off('readable', settle)
      session.off('close', settle)
      session.off('error', settle)
      disconnected.removeEventListener('abort', settle)
      resolve(session.readableLength > 0)
    }
    const settleIfSilent = async () => {
      if ((await livenessOf(session)?.probe()) === false) settle()
    }
    const deadline = setTimeout(settle, FIRST_BYTE_DEADLINE_MS)
    const probeTimer = setTimeout(() => void settleIfSilent(), CARRIER_PROBE_AFTER_MS)
    session.on('readable', settle)
    session.on('close', settle)
    session.on('error', settle)
    disconnected.addEventListener('abort', settle)
    if (session.destroyed || disconnected.aborted) settle()
  })
}

/** Aborts when the visitor closes or ends before the first answer. A paused socket reads ahead, which shows the end. */
function whenDisconnected(socket: Duplex): AbortSignal {
  const controller = new AbortController()
  const abort = () => controller.abort()
  if (socket.closed || socket.readableEnded) abort()
  socket.once('close', abort)
  socket.once('end', abort)
  return controller.signal
}
