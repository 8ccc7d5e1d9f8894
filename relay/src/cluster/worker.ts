// One worker: takes public connections as the first process does, and holds carriers of its own. What it knows of leases
// and policy it is told.

import { createPublicKey } from 'node:crypto'
import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { PATH } from '@svc/protocol'
import { noSite } from '../api/handlers/static-files.ts'
import { Observer } from '../api/http/request-log.ts'
import { createApiServer } from '../api/http/server.ts'
import { WriteDeadlines } from '../api/http/write-timeouts.ts'
import { refuseWithoutUpgrade } from '../api/router.ts'
import { Admissions } from '../auth/lease-authorizer.ts'
import { TokenVerifier } from '../auth/token-verifier.ts'
import type { Pipe } from '../bridge/pipe.ts'
import { certificatesOf } from '../certificates/certificate-files.ts'
import { CertificateRotation } from '../certificates/certificate-rotation.ts'
import { Sources } from '../client-address/client-addresses.ts'
import { TrustedProxies } from '../client-address/trusted-proxies.ts'
import { setClockOrigin } from '../clock.ts'
import { capacityOf, openFilesMax } from '../config/connection-capacity.ts'
import { createPublicPlane } from '../data-plane.ts'
import type { Lease } from '../lease/lease.ts'
import { API_IDLE_MS, BACKLOG, DRAIN_MS, FAREWELL_MS } from '../limits.ts'
import { createLog, type Logger } from '../log/log.ts'
import { PolicyRules } from '../policy/policy-rules.ts'
import { ReverseConnect } from '../reverse/connect-endpoint.ts'
import { Routes } from '../routing/routing-table.ts'
import { Forwarder } from './api-channel.ts'
import { createFront } from './api-frontend.ts'
import { LeaseMirror } from './lease-replica.ts'
import type { Beginning, ToWorker } from './messages.ts'
import { Uplink } from './primary-link.ts'
import { arrivalOf, arrive, refuse } from './socket-handover.ts'

/** What each message, with the socket that came with it, makes the worker do. */
export type Orders = {
  [Kind in ToWorker['kind']]?: (message: Extract<ToWorker, { kind: Kind }>, socket?: Socket) => void
}

export interface Worker {
  orders: Orders
  log: Logger
  /** Takes nobody any more; resolves when its visitors have left, or have had the time for it. */
  leave(): Promise<void>
}

/** @param channel to the first process, for the API */
export function createWorker(begin: Beginning, channel: Socket, pipe: Pipe): Worker {
  // Tokens are judged by the time at which the first process issued them.
  setClockOrigin(begin.clockOrigin)
  const log = createLog(begin.logLevel).child({ worker: begin.place })
  const readCertificates = ({ chainPem, keyPem }: Beginning['certificates']) =>
    certificatesOf(begin.rootHost, chainPem, keyPem)
  const certificates = new CertificateRotation(readCertificates(begin.certificates))
  const policy = new PolicyRules(begin.policy)
  const sources = new Sources(new TrustedProxies(begin.trustedProxies))
  const routes = new Routes(begin.rootHost)
  const leases = new LeaseMirror(routes, (lease) => uplink.watch(lease))
  const publicKey = createPublicKey({ key: begin.publicKey, format: 'der', type: 'spki' })
  const admissions = new Admissions(new TokenVerifier(publicKey, begin.issuer), leases)
  const plane = createPublicPlane({
    processes: begin.processes,
    place: begin.place,
    sources,
    routes,
    policy,
    connectionsMax: capacityOf(openFilesMax(), false).connections,
    pipe,
    serveRoot: (socket) => {
      connect.connected(socket)
      front.emit('connection', socket)
    },
    log,
  })
  const { listener, visitors, bindings, tally } = plane
  const uplink = new Uplink(plane)
  const connect = new ReverseConnect(admissions, policy, tally, sources)
  connect.onCarrier(({ id }) => uplink.tell({ kind: 'carrier', lease: id }))
  const api = createApiServer({
    rootHost: begin.rootHost,
    certificates,
    sources,
    routing: { [PATH.connect]: { GET: refuseWithoutUpgrade } },
    connect,
    site: noSite,
    observer: new Observer(tally, log),
    // What follows on the same connection may be for the first process.
    isClosing: () => true,
  })
  const deadlines = new WriteDeadlines()
  const forwarder = new Forwarder(channel, pipe)
  const front = createFront({
    certificates,
    serveConnect: (connection) => api.emit('secureConnection', connection),
    forward: (connection) => {
      deadlines.watch(connection, () => {
        connect.tcpBeneath(connection)?.resetAndDestroy()
        connection.destroy()
      })
      connection.setTimeout(API_IDLE_MS, () => connection.destroy())
      forwarder.forward(connection, sources.ofConnection(connection)).catch(() => connection.destroy())
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
  listener.once('listening', () => uplink.tell({ kind: 'listening' }))
  listener.on('error', ({ message, code }: NodeJS.ErrnoException) => {
    // Another one may have more luck, after a while.
    if (!listener.listening)
      uplink.tell({ kind: 'failed', message, code, port: begin.port }, () => process.exit(1))
  })
  listener.listen({ port: begin.port, backlog: BACKLOG, reusePort: true })

  const withLease = (id: string, use: (lease: Lease) => void): void => {
    const lease = leases.byId(id)
    if (lease !== undefined) use(lease)
  }
  const leave = async (): Promise<void> => {
    listener.close()
    for (const lease of leases) {
      lease.ready.close()
      if (visitors.visitorsOf(lease) === 0) connect.sendAway(lease)
    }
    await visitors.finish((lease) => connect.sendAway(lease), AbortSignal.timeout(DRAIN_MS))
    await closedOrLate(open)
  }
  const orders: Orders = {
    visitor: (message, socket) => {
      if (socket === undefined) return
      const visitor = arrive(socket, message)
      track(visitor)
      const lease = leases.byId(message.lease)
      if (lease !== undefined) uplink.note(lease)
      if (lease === undefined || visitors.size >= listener.maxConnections) return refuse(visitor, message)
      plane.serve(arrivalOf(visitor, lease, message, uplink)).catch((error) => {
        log.error({ err: error }, 'visitor failed')
        visitor.destroy()
      })
    },
    leases: (message) => {
      for (const lease of message.leases) leases.put(lease)
    },
    ended: ({ lease, reason }) => leases.end(lease, reason),
    recount: ({ lease }) => withLease(lease, (lease) => uplink.note(lease)),
    'make-room': ({ lease }) => withLease(lease, (lease) => plane.makeRoom(lease)),
    probe: ({ lease }) => withLease(lease, (lease) => connect.probe(lease)),
    policy: ({ file }) => policy.inForce(file),
    certificates: (message) => certificates.replace(readCertificates(message.certificates)),
    spend: ({ question, lease: id, binding, clientHello }) => {
      const lease = leases.byId(id)
      const yes = lease !== undefined && bindings.spend(binding, lease, clientHello)
      uplink.tell({ kind: 'answer', question, yes })
    },
    ping: ({ question }) => uplink.tell({ kind: 'answer', question, yes: true }),
    'stop-listening': () => listener.close(),
    end: ({ farewell }) => void closedOrLate(farewell ? open : []).then(() => process.exit()),
  }
  return { orders, log, leave }
}

/** Resolves when these are closed, or have had the time for it. */
async function closedOrLate(sockets: Iterable<Socket>): Promise<void> {
  const closed = Array.from(sockets, (socket) => new Promise((resolve) => socket.once('close', resolve)))
  await Promise.race([Promise.all(closed), setTimeout(FAREWELL_MS)])
}
