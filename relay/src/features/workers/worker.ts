// One worker: it takes public connections as the primary does, and holds carriers of its own. The primary sends it
// leases and policy.

import type { Server, Socket } from 'node:net'
import { LeaseAuthorizer } from '../../core/auth/lease-authorizer.ts'
import { createPipe } from '../../core/bridge/pipe.ts'
import { Visitors } from '../../core/bridge/visitors.ts'
import { setClockOrigin } from '../../core/clock.ts'
import { connectionCapacity, openFilesMax } from '../../core/config/connection-capacity.ts'
import { DataPlane } from '../../core/data-plane.ts'
import { LISTEN_BACKLOG } from '../../core/ingress/listen.ts'
import { OpenSockets } from '../../core/ingress/open-sockets.ts'
import { refuseOverlayPeers } from '../../core/ingress/refuse-overlay-peers.ts'
import { createLog, type Logger } from '../../core/log/log.ts'
import { RelayCounters } from '../../core/metrics/relay-counters.ts'
import type { SharedReadBuffer } from '../../core/node-internals/shared-read-buffer.ts'
import { readyQueueOf } from '../../core/reverse/ready-queues.ts'
import { DRAIN_MS } from '../../core/shutdown.ts'
import { TrafficChanges } from '../../core/traffic/traffic-changes.ts'
import { Forwarder } from './api-channel.ts'
import { LeaseReplica } from './lease-replica.ts'
import type { WorkerStart } from './messages.ts'
import { PrimaryLink } from './primary-link.ts'
import { createWorkerApi } from './worker-api.ts'
import { createMessageHandlers, type MessageHandlers, type WorkerParts } from './worker-message-handlers.ts'
import { WorkerState } from './worker-state.ts'

export interface Worker {
  handlers: MessageHandlers
  log: Logger
  /** Takes no more visitors; resolves when the present ones have left, or their time is up. */
  leave(): Promise<void>
}

/** @param channel to the primary, for the API */
export function createWorker(
  start: WorkerStart,
  channel: Socket,
  readBuffer: SharedReadBuffer | undefined,
): Worker {
  const pipe = createPipe(readBuffer)
  // Tokens carry the primary's relay time, so this process needs the same.
  setClockOrigin(start.clockOrigin)
  const log = createLog(start.logLevel).child({ worker: start.processIndex })
  const state = new WorkerState(start)
  const { processes, bindingMark } = start
  const counters = new RelayCounters()
  const traffic = new TrafficChanges(start.sketchKey)
  const visitors = new Visitors(log, traffic)
  const dataPlane = new DataPlane({
    ...state,
    processes: () => processes,
    bindingMark,
    visitors,
    counters,
    pipe,
    isReady: () => state.certificates.hasCertificate,
    log,
  })
  const { connectionLimiter } = dataPlane
  const primaryLink = new PrimaryLink({ visitors, counters, connectionLimiter, traffic })
  const leases = new LeaseReplica(state.routes, (lease) => primaryLink.watch(lease))
  const { connect, serve } = createWorkerApi({
    ...state,
    rootHost: start.rootHost,
    ownPorts: start.ownPorts,
    authorizer: new LeaseAuthorizer(state.tokenVerifier, leases),
    counters,
    forwarder: new Forwarder(channel, pipe),
    readBuffer,
    log,
  })
  connect.onCarrier(({ id }) => primaryLink.send({ kind: 'carrier', lease: id }))
  state.policy.onChange(() => {
    for (const lease of leases) lease.setRouted(state.policy.routes(lease))
  })
  const sockets = new OpenSockets()
  const { connections } = connectionCapacity(openFilesMax(), { hasTcpPorts: false, hasOverlay: false })
  const listener = dataPlane.createListener({
    connectionsMax: connections,
    serveRoot: serve,
    proveName: start.provesNames ? (...from) => primaryLink.proveName(...from) : undefined,
  })
  listener.on('connection', (socket) => sockets.track(socket))
  refuseOverlayPeers(listener, start.overlayPort)
  listen(listener, start, primaryLink)
  const parts = { state, leases, visitors, dataPlane, primaryLink, connect, listener, sockets, log }
  return { handlers: createMessageHandlers(parts), log, leave: () => leave(parts) }
}

/** Reports the outcome to the primary. */
function listen(listener: Server, { port, host }: WorkerStart, primaryLink: PrimaryLink): void {
  listener.once('listening', () => primaryLink.send({ kind: 'listening' }))
  listener.on('error', ({ message, code }: NodeJS.ErrnoException) => {
    // Another worker may succeed later.
    if (!listener.listening) primaryLink.send({ kind: 'failed', message, code, port }, () => process.exit(1))
  })
  listener.listen({ port, host, backlog: LISTEN_BACKLOG, reusePort: true })
}

async function leave({ listener, leases, visitors, connect, sockets }: WorkerParts): Promise<void> {
  listener.close()
  for (const lease of leases) {
    readyQueueOf(lease).close()
    if (visitors.visitorsOf(lease) === 0) connect.closeCarriers(lease)
  }
  await visitors.drain((lease) => connect.closeCarriers(lease), AbortSignal.timeout(DRAIN_MS))
  await sockets.closedOrLate()
}
