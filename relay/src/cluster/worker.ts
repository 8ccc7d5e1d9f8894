// Runs one worker: accepts public connections as the primary process does, and holds carriers of its own. The primary
// process sends it leases and policy.

import { createPublicKey } from 'node:crypto'
import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { PATH } from '@svc/protocol'
import { noStaticFiles } from '../api/handlers/static-files.ts'
import { RequestLog } from '../api/http/request-log.ts'
import { createApiServer } from '../api/http/server.ts'
import { WriteTimeouts } from '../api/http/write-timeouts.ts'
import { refuseWithoutUpgrade } from '../api/router.ts'
import { LeaseAuthorizer } from '../auth/lease-authorizer.ts'
import { TokenVerifier } from '../auth/token-verifier.ts'
import { ownTokens } from '../auth/trusted-issuers.ts'
import type { Pipe } from '../bridge/pipe.ts'
import { certificatesOf } from '../certificates/certificate-files.ts'
import { CertificateRotation } from '../certificates/certificate-rotation.ts'
import { ClientAddresses } from '../client-address/client-addresses.ts'
import { TrustedProxies } from '../client-address/trusted-proxies.ts'
import { setClockOrigin } from '../clock.ts'
import { connectionCapacity, openFilesMax } from '../config/connection-capacity.ts'
import { createDataPlane } from '../data-plane.ts'
import type { Lease } from '../lease/lease.ts'
import { ROOT_ROUTE } from '../lease/route.ts'
import { API_IDLE_MS, CLOSE_GRACE_MS, DRAIN_MS, LISTEN_BACKLOG } from '../limits.ts'
import { createLog, type Logger } from '../log/log.ts'
import { PolicyRules } from '../policy/policy-rules.ts'
import { ConnectEndpoint } from '../reverse/connect-endpoint.ts'
import { RoutingTable } from '../routing/routing-table.ts'
import { Forwarder } from './api-channel.ts'
import { createApiFrontend } from './api-frontend.ts'
import { LeaseReplica } from './lease-replica.ts'
import type { ToWorker, WorkerStart } from './messages.ts'
import { PrimaryLink } from './primary-link.ts'
import { pendingVisitorOf, receiveSocket, refuseVisitor } from './socket-handover.ts'

/** The handler of each message, called with the socket that came with it. */
export type MessageHandlers = {
  [Kind in ToWorker['kind']]?: (message: Extract<ToWorker, { kind: Kind }>, socket?: Socket) => void
}

export interface Worker {
  handlers: MessageHandlers
  log: Logger
  /** Accepts no more visitors. Resolves when the open ones have disconnected, or have had the time for it. */
  leave(): Promise<void>
}

/** @param channel socket to the primary process, for the API */
export function createWorker(begin: WorkerStart, channel: Socket, pipe: Pipe): Worker {
  // The primary process issued the tokens, so its clock decides when they expire.
  setClockOrigin(begin.clockOrigin)
  const log = createLog(begin.logLevel).child({ worker: begin.processIndex })
  const readCertificates = ({ chainPem, keyPem }: WorkerStart['certificates']) =>
    certificatesOf(begin.rootHost, chainPem, keyPem)
  const certificates = new CertificateRotation(readCertificates(begin.certificates))
  const policy = new PolicyRules(begin.policy)
  const clientAddresses = new ClientAddresses(new TrustedProxies(begin.trustedProxies))
  const routes = new RoutingTable(begin.rootHost, ROOT_ROUTE)
  const leases = new LeaseReplica(routes, (lease) => primaryLink.watch(lease))
  const publicKey = createPublicKey({ key: begin.publicKey, format: 'der', type: 'spki' })
  const admissions = new LeaseAuthorizer(new TokenVerifier(ownTokens(begin.issuer, publicKey)), leases)
  const dataPlane = createDataPlane({
    processes: begin.processes,
    processIndex: begin.processIndex,
    clientAddresses,
    routes,
    policy,
    connectionsMax: connectionCapacity(openFilesMax(), false).connections,
    pipe,
    serveRoot: (socket) => {
      connect.onTcpConnection(socket)
      apiFrontend.emit('connection', socket)
    },
    log,
  })
  const { listener, visitors, bindings, counters } = dataPlane
  const primaryLink = new PrimaryLink(dataPlane)
  const connect = new ConnectEndpoint(admissions, policy, counters, clientAddresses)
  connect.onCarrier(({ id }) => primaryLink.send({ kind: 'carrier', lease: id }))
  const api = createApiServer({
    rootHost: begin.rootHost,
    certificates,
    clientAddresses,
    routing: { [PATH.connect]: { GET: refuseWithoutUpgrade } },
    connect,
    site: noStaticFiles,
    observer: new RequestLog(counters, log),
    // The next request on the same connection may be for the primary process.
    isClosing: () => true,
  })
  const deadlines = new WriteTimeouts()
  const forwarder = new Forwarder(channel, pipe)
  const apiFrontend = createApiFrontend({
    certificates,
    serveConnect: (connection) => api.emit('secureConnection', connection),
    forward: (connection) => {
      deadlines.watch(connection, () => {
        connect.underlyingSocketOf(connection)?.resetAndDestroy()
        connection.destroy()
      })
      connection.setTimeout(API_IDLE_MS, () => connection.destroy())
      forwarder
        .forward(connection, clientAddresses.ofConnection(connection))
        .catch(() => connection.destroy())
    },
  })
  policy.onChange(() => {
    for (const lease of leases) lease.follow(policy.routes(lease))
  })
  const open = new Set<Socket>()
  const track = (socket: Socket): void => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  }
  listener.on('connection', track)
  listener.once('listening', () => primaryLink.send({ kind: 'listening' }))
  listener.on('error', ({ message, code }: NodeJS.ErrnoException) => {
    // The next worker process may succeed after a while.
    if (!listener.listening)
      primaryLink.send({ kind: 'failed', message, code, port: begin.port }, () => process.exit(1))
  })
  listener.listen({ port: begin.port, backlog: LISTEN_BACKLOG, reusePort: true })

  const withLease = (id: string, use: (lease: Lease) => void): void => {
    const lease = leases.byId(id)
    if (lease !== undefined) use(lease)
  }
  const leave = async (): Promise<void> => {
    listener.close()
    for (const lease of leases) {
      lease.ready.close()
      if (visitors.visitorsOf(lease) === 0) connect.closeCarriers(lease)
    }
    await visitors.drain((lease) => connect.closeCarriers(lease), AbortSignal.timeout(DRAIN_MS))
    await closedOrLate(open)
  }
  const handlers: MessageHandlers = {
    visitor: (message, socket) => {
      if (socket === undefined) return
      const visitor = receiveSocket(socket, message)
      track(visitor)
      const lease = leases.byId(message.lease)
      if (lease !== undefined) primaryLink.markChanged(lease)
      if (lease === undefined || visitors.size >= listener.maxConnections)
        return refuseVisitor(visitor, message)
      dataPlane.serve(pendingVisitorOf(visitor, lease, message, primaryLink)).catch((error) => {
        log.error({ err: error }, 'visitor failed')
        visitor.destroy()
      })
    },
    leases: (message) => {
      for (const lease of message.leases) leases.put(lease)
    },
    ended: ({ lease, reason }) => leases.end(lease, reason),
    recount: ({ lease }) => withLease(lease, (lease) => primaryLink.markChanged(lease)),
    'make-room': ({ lease }) => withLease(lease, (lease) => dataPlane.makeRoom(lease)),
    probe: ({ lease }) => withLease(lease, (lease) => connect.probeCarriers(lease)),
    policy: ({ file }) => policy.apply(file),
    certificates: (message) => certificates.replace(readCertificates(message.certificates)),
    spend: ({ question, lease: id, binding, clientHello }) => {
      const lease = leases.byId(id)
      const yes = lease !== undefined && bindings.spend(binding, lease, clientHello)
      primaryLink.send({ kind: 'answer', question, yes })
    },
    ping: ({ question }) => primaryLink.send({ kind: 'answer', question, yes: true }),
    'stop-listening': () => listener.close(),
    end: ({ isGraceful }) => void closedOrLate(isGraceful ? open : []).then(() => process.exit()),
  }
  return { handlers, log, leave }
}

/** Resolves when the sockets are closed, or have had {@link CLOSE_GRACE_MS} for it. */
async function closedOrLate(sockets: Iterable<Socket>): Promise<void> {
  const closed = Array.from(sockets, (socket) => new Promise((resolve) => socket.once('close', resolve)))
  await Promise.race([Promise.all(closed), setTimeout(CLOSE_GRACE_MS)])
}
