// Hands a visitor's socket over to a peer process: no byte is lost, and none is read twice.

import type { Socket } from 'node:net'
import { resetSocket } from '@svc/node-kit/sockets'
import { ALERT, alertRecord } from '@svc/tls/messages'
import type { Lease } from '../../core/lease/lease.ts'
import { stopReading } from '../../core/node-internals/stop-reading.ts'
import type { PendingVisitor, SessionPeer } from '../../core/reverse/pending-visitor.ts'
import type { ChallengeVisitor, FeatureVisitor, HandedOver } from './messages.ts'

/** A relay of several processes has a socket for each visitor, even for one whom another machine passes on. */
export function socketOf({ visitor }: PendingVisitor): Socket {
  return visitor as Socket
}

/**
 * Reads nothing more from the visitor. The socket may be closed here as soon as the message has left with it: the
 * connection is open as long as one process has it.
 */
export function handOverMessage(pending: PendingVisitor): HandedOver {
  const {
    lease,
    hello,
    binding,
    addresses,
    arrivedAt,
    sessionsLost,
    network,
    isLowPriority,
    machinesPassed,
    isCounted,
  } = pending
  return {
    kind: 'visitor',
    lease: lease.id,
    hello,
    binding,
    addresses,
    unread: stopReading(socketOf(pending)),
    ageMs: performance.now() - arrivedAt,
    sessionsLost,
    network,
    isLowPriority,
    machinesPassed,
    isCounted,
  }
}

/** Reads nothing more from the visitor of a feature, as {@link handOverMessage} does. */
export function featureVisitorMessage(
  visitor: Socket,
  serverName: string,
  clientIp: string | undefined,
): FeatureVisitor {
  return { kind: 'feature-visitor', serverName, clientIp, unread: stopReading(visitor) }
}

/** Reads nothing more from the connection of an ACME authority, as {@link handOverMessage} does. */
export function challengeMessage(socket: Socket, serverName: string): ChallengeVisitor {
  return { kind: 'challenge', serverName, unread: stopReading(socket) }
}

/** Restores the socket as it was in the other process. */
export function receiveSocket(socket: Socket, { unread }: Pick<HandedOver, 'unread'>): Socket {
  socket.on('error', () => {})
  socket.allowHalfOpen = true
  if (unread.length > 0) socket.unshift(unread)
  return socket
}

/** Restores the pending visitor. @param handedOverBy the process that sent the visitor */
export function pendingVisitorOf(
  visitor: Socket,
  lease: Lease,
  message: HandedOver,
  handedOverBy: SessionPeer,
): PendingVisitor {
  const {
    hello,
    binding,
    addresses,
    ageMs,
    sessionsLost,
    network,
    isLowPriority,
    machinesPassed,
    isCounted,
  } = message
  return {
    visitor,
    lease,
    hello,
    binding: binding && Buffer.from(binding),
    addresses,
    arrivedAt: performance.now() - ageMs,
    sessionsLost,
    network,
    isLowPriority,
    machinesPassed,
    isCounted,
    handedOverBy,
  }
}

/** Refuses a visitor without a lease, in the same way as one who got no session in time. */
export function refuseVisitor(visitor: Socket, { hello }: HandedOver): void {
  if (hello === undefined) resetSocket(visitor)
  else visitor.end(alertRecord(ALERT.internal_error), () => visitor.destroySoon())
}

/** Refuses an ACME authority as the listener does, for a name that is not being proven. */
export function refuseChallenge(socket: Socket): void {
  socket.end(alertRecord(ALERT.no_application_protocol), () => socket.destroySoon())
}

/** Refuses a visitor as the listener refuses one who names an unknown host (RFC 6066 §3). */
export function refuseUnknownName(visitor: Socket): void {
  visitor.end(alertRecord(ALERT.unrecognized_name), () => visitor.destroySoon())
}
