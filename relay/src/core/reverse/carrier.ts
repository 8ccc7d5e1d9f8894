// Serves one carrier, a browser's WebSocket or a native connection: a yamux session whose streams become ready sessions.

import { CARRIER_CLOSE } from '@svc/protocol'
import { type MemoryMeter, Session, type Transport } from '@svc/yamux'
import type { Lease } from '../lease/lease.ts'
import { CarrierLiveness } from './carrier-liveness.ts'
import { readyQueueOf } from './ready-queues.ts'
import type { SessionMemories } from './session-memory.ts'
import { type LeaseOf, StreamAuthorizer } from './stream-authorization.ts'

/** Streams of one carrier, both ready and bridged. */
const CARRIER_STREAMS_MAX = 1024
/** Bytes that a carrier may buffer before its sender waits. */
export const CARRIER_BUFFERED_MAX_BYTES: number = 1024 * 1024
/** Time for the answer to a ping on a carrier on which nothing else arrives. */
const CARRIER_PING_DEADLINE_MS = 5_000
/** Time for a carrier to close before the relay cuts its connection. */
export const CARRIER_CLOSE_DEADLINE_MS = 2_000

export interface Carrier {
  /** Probes whether the client still answers, and closes the carrier if it does not. */
  probe(): void
  /** Closes the carrier with code 1012, so that its client opens another one, in another process. */
  closeForRestart(): void
  /** Takes no more streams. Those that serve visitors go on, and the carrier closes after the last one. */
  leave(): void
}

/** The connection under a carrier. */
export interface CarrierConnection {
  /** Received bytes are valid only during the call. */
  readonly sharesInput: boolean
  /** Bytes that the kernel has not taken, and that delay a ping. */
  readonly backlog: number
  /**
   * Begins to read. Called once.
   * @param memory counts what the connection buffers
   */
  open(memory: MemoryMeter, events: ConnectionEvents): Transport
  /**
   * Closes gracefully and tells the client why; cuts the connection when the client takes too long.
   * @param code one of `CARRIER_CLOSE`
   */
  close(session: Session, code: number, reason: string): void
  /** Cuts the connection at once. */
  terminate(): void
}

interface ConnectionEvents {
  received(bytes: Buffer): void
  /** Called once when the connection is closed. */
  closed(): void
}

interface CarrierParts {
  connection: CarrierConnection
  lease: Lease
  /** Normalized address of the client; undefined when it stands for many clients. */
  clientIp: string | undefined
  /** Authorizes the streams. */
  leaseOf: LeaseOf
  memories: SessionMemories
}

/** Serves `connection` until it closes or the lease ends. Bridged streams live as long as the connection does. */
export function serveCarrier({ connection, lease, clientIp, leaseOf, memories }: CarrierParts): Carrier {
  const memory = memories.open(lease, clientIp, {
    shed: (bytes) => session.shed(bytes),
    terminate: () => connection.terminate(),
  })
  const liveness = new CarrierLiveness({
    ping: () => void session.ping().catch(() => {}),
    backlog: () => connection.backlog,
  })
  const unwatch = readyQueueOf(lease).watch(liveness)
  const authorizer = new StreamAuthorizer(lease, leaseOf, memory, liveness)
  const close = (code: number, reason: string): void => connection.close(session, code, reason)
  const onLeaseEnd = () => {
    const code = lease.ended.reason === 'replaced' ? CARRIER_CLOSE.leaseReplaced : CARRIER_CLOSE.leaseEnded
    close(code, `lease ${lease.ended.reason}`)
  }
  lease.ended.addEventListener('abort', onLeaseEnd)
  const releaseBlock = lease.onBlock(() => {
    close(CARRIER_CLOSE.leaseEnded, 'lease not allowed')
    session.transportClosed()
  })
  const transport = connection.open(memory, {
    received: (bytes) => {
      liveness.onMessage()
      session.receive(bytes)
    },
    closed: () => {
      lease.ended.removeEventListener('abort', onLeaseEnd)
      releaseBlock()
      unwatch()
      session.transportClosed()
      memory.close()
    },
  })
  const session = new Session(transport, {
    role: 'server',
    maxStreams: CARRIER_STREAMS_MAX,
    pingTimeoutMs: CARRIER_PING_DEADLINE_MS,
    sharedInput: connection.sharesInput,
    memory,
    onStream: (stream) => void authorizer.authorize(stream),
  })
  return {
    probe: () => {
      const before = liveness.messagesReceived
      // Any message shows that the client lives: the answer may be stuck behind bulk data.
      session.ping().catch(() => {
        if (liveness.messagesReceived === before) connection.terminate()
      })
    },
    closeForRestart: () => close(CARRIER_CLOSE.serviceRestart, 'restart'),
    leave: () => session.goAway(),
  }
}
