// Serves one browser's WebSocket: a yamux session whose streams become ready sessions of the lease.

import type { Duplex } from 'node:stream'
import { CARRIER_CLOSE } from '@svc/protocol'
import { Session } from '@svc/yamux'
import type { WebSocket } from 'ws'
import type { LeaseAuthorizer } from '../auth/lease-authorizer.ts'
import type { Lease } from '../lease/lease.ts'
import { CARRIER_CLOSE_DEADLINE_MS, CARRIER_PING_DEADLINE_MS, CARRIER_STREAMS_MAX } from '../limits.ts'
import { CarrierLiveness } from './carrier-liveness.ts'
import { meterMessages } from './message-meter.ts'
import { readyQueueOf } from './ready-queues.ts'
import type { SessionMemories } from './session-memory.ts'
import { StreamAuthorizer } from './stream-authorization.ts'
import { webSocketTransport } from './websocket-transport.ts'

/** In IANA's registry of close codes: "Service Restart". */
const SERVICE_RESTART = 1012

export interface WebSocketCarrier {
  /** Finds out whether the page still answers, and closes the WebSocket when it does not. */
  probe(): void
  /** Closes the WebSocket with code 1012, so that its page opens another one, in another process. */
  closeForRestart(): void
}

interface CarrierParts {
  socket: WebSocket
  /** The connection under the WebSocket. */
  connection: Duplex
  lease: Lease
  /** Normalized address of the client; undefined when it stands for many clients. */
  clientIp: string | undefined
  credentials: LeaseAuthorizer
  memories: SessionMemories
}

/** Serves `socket` until it closes or the lease ends. Bridged streams live as long as the socket does. */
export function serveWebSocketCarrier(parts: CarrierParts): WebSocketCarrier {
  const { socket, connection, lease, clientIp, credentials, memories } = parts
  const memory = memories.open(lease, clientIp, {
    shed: (bytes) => session.shed(bytes),
    terminate: () => socket.terminate(),
  })
  const liveness = new CarrierLiveness({
    ping: () => void session.ping().catch(() => {}),
    backlog: () => socket.bufferedAmount,
  })
  const unwatch = readyQueueOf(lease).watch(liveness)
  const authorizer = new StreamAuthorizer(lease, credentials, memory, liveness)
  const session = new Session(webSocketTransport(socket, memory), {
    role: 'server',
    maxStreams: CARRIER_STREAMS_MAX,
    pingTimeoutMs: CARRIER_PING_DEADLINE_MS,
    memory,
    onStream: (stream) => void authorizer.authorize(stream),
  })
  const close = (code: number, reason: string) => {
    socket.close(code, reason)
    setTimeout(() => socket.terminate(), CARRIER_CLOSE_DEADLINE_MS).unref()
  }
  const onLeaseEnd = () => {
    const code = lease.ended.reason === 'replaced' ? CARRIER_CLOSE.leaseReplaced : CARRIER_CLOSE.leaseEnded
    close(code, `lease ${lease.ended.reason}`)
  }
  lease.ended.addEventListener('abort', onLeaseEnd)
  const releaseBlock = lease.onBlock(() => {
    session.transportClosed()
    close(CARRIER_CLOSE.leaseEnded, 'lease not allowed')
  })
  meterMessages(socket, connection, memory)
  socket.on('message', (data) => {
    liveness.onMessage()
    session.receive(data as Buffer)
  })
  socket.on('error', () => socket.terminate())
  socket.on('close', () => {
    lease.ended.removeEventListener('abort', onLeaseEnd)
    releaseBlock()
    unwatch()
    session.transportClosed()
    memory.close()
  })
  return {
    probe: () => {
      const before = liveness.messagesReceived
      // Any message shows that the page lives: the answer may be stuck behind bulk data.
      session.ping().catch(() => {
        if (liveness.messagesReceived === before) socket.terminate()
      })
    },
    closeForRestart: () => close(SERVICE_RESTART, 'restart'),
  }
}
