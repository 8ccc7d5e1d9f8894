// Handles each message of the primary process in a worker process.

import type { Server, Socket } from 'node:net'
import type { Visitors } from '../../core/bridge/visitors.ts'
import type { DataPlane } from '../../core/data-plane.ts'
import type { OpenSockets } from '../../core/ingress/open-sockets.ts'
import type { Lease } from '../../core/lease/lease.ts'
import type { Logger } from '../../core/log/log.ts'
import type { ConnectEndpoint } from '../../core/reverse/connect-endpoint.ts'
import type { LeaseReplica } from './lease-replica.ts'
import type { HandedOver, ToWorker } from './messages.ts'
import type { PrimaryLink } from './primary-link.ts'
import { pendingVisitorOf, receiveSocket, refuseVisitor } from './socket-handover.ts'
import type { WorkerState } from './worker-state.ts'

/** By kind of message; each is called with the message and the socket that came with it. */
export type MessageHandlers = {
  [Kind in ToWorker['kind']]?: (message: Extract<ToWorker, { kind: Kind }>, socket?: Socket) => void
}

export interface WorkerParts {
  state: WorkerState
  leases: LeaseReplica
  visitors: Visitors
  dataPlane: DataPlane
  primaryLink: PrimaryLink
  connect: ConnectEndpoint
  listener: Server
  sockets: OpenSockets
  log: Logger
}

export function createMessageHandlers(parts: WorkerParts): MessageHandlers {
  const { state, leases, dataPlane, primaryLink, connect, listener, sockets } = parts
  const withLease = (id: string, use: (lease: Lease) => void): void => {
    const lease = leases.byId(id)
    if (lease !== undefined) use(lease)
  }
  return {
    visitor: (message, socket) => receiveVisitor(message, socket, parts),
    leases: (message) => {
      for (const lease of message.leases) leases.put(lease)
    },
    ended: ({ lease, reason }) => leases.end(lease, reason),
    covers: ({ hostnames, isCovered }) => {
      for (const hostname of hostnames)
        if (isCovered) state.routes.cover(hostname, primaryLink.featureRoute)
        else state.routes.uncover(hostname, primaryLink.featureRoute)
    },
    recount: ({ lease }) => withLease(lease, (lease) => primaryLink.markChanged(lease)),
    'make-room': ({ lease }) => withLease(lease, (lease) => dataPlane.makeRoom(lease)),
    probe: ({ lease }) => withLease(lease, (lease) => connect.probeCarriers(lease)),
    policy: ({ file }) => state.policy.apply(file),
    certificates: ({ certificates }) => state.replaceCertificates(certificates),
    spend: ({ question, lease: id, binding, clientHello }) => {
      const lease = leases.byId(id)
      const yes = lease !== undefined && dataPlane.bindings.spend(binding, lease, clientHello)
      primaryLink.send({ kind: 'answer', question, yes })
    },
    ping: ({ question }) => primaryLink.send({ kind: 'answer', question, yes: true }),
    'stop-listening': () => listener.close(),
    leave: () => {
      for (const lease of leases) connect.leave(lease)
    },
    end: ({ isGraceful }) =>
      void Promise.resolve(isGraceful ? sockets.closedOrLate() : undefined).then(() => process.exit()),
  }
}

function receiveVisitor(message: HandedOver, socket: Socket | undefined, parts: WorkerParts): void {
  if (socket === undefined) return
  const { leases, visitors, dataPlane, primaryLink, listener, sockets, log } = parts
  const visitor = receiveSocket(socket, message)
  sockets.track(visitor)
  const lease = leases.byId(message.lease)
  if (lease !== undefined) primaryLink.markChanged(lease)
  if (lease === undefined || visitors.size >= listener.maxConnections) {
    refuseVisitor(visitor, message)
    return
  }
  const pending = pendingVisitorOf(visitor, lease, message, primaryLink)
  dataPlane.visitorServer.serve(pending).catch((error) => {
    log.error({ err: error }, 'visitor failed')
    visitor.destroy()
  })
}
