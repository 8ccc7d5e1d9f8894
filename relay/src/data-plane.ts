// What each process of a relay does with public connections: lets them in, joins visitors to sessions, and counts.

import type { Server, Socket } from 'node:net'
import { SessionClaimer } from './bridge/claim-session.ts'
import type { Pipe } from './bridge/pipe.ts'
import { serveTcpVisitor } from './bridge/tcp-visitor.ts'
import { TcpVisitors } from './bridge/tcp-visitors.ts'
import { serveTlsVisitor } from './bridge/tls-visitor.ts'
import { Visitors } from './bridge/visitors.ts'
import type { ClientAddresses } from './client-address/client-addresses.ts'
import { networkOf } from './client-address/ip-address.ts'
import type { PeekedHello } from './ingress/client-hello.ts'
import { ConnectionLimiter, type Refusal } from './ingress/connection-limiter.ts'
import { OverloadMonitor } from './ingress/overload-monitor.ts'
import { createSniListener } from './ingress/sni-listener.ts'
import { BindingStore } from './keyless/bindings.ts'
import type { Lease } from './lease/lease.ts'
import type { Route } from './lease/route.ts'
import type { Logger } from './log/log.ts'
import { RelayCounters } from './metrics/relay-counters.ts'
import type { PolicyRules } from './policy/policy-rules.ts'
import { Bandwidth } from './rate-limit/bandwidth.ts'
import type { PendingVisitor } from './reverse/pending-visitor.ts'
import type { RoutingTable } from './routing/routing-table.ts'

interface PlaneParts {
  /** Processes that share the work, and which of them this is: the first has 0. */
  processes: number
  processIndex: number
  clientAddresses: ClientAddresses
  routes: RoutingTable<Route>
  policy: PolicyRules
  connectionsMax: number
  pipe: Pipe
  /** Called when a visitor waits here, and no source has more than its share of the lease's visitors in this process. */
  makeRoomElsewhere?: (lease: Lease) => void
  /** Gets connections to the root host. */
  serveRoot: (socket: Socket) => void
  log: Logger
}

export interface DataPlane {
  listener: Server
  visitors: Visitors
  counters: RelayCounters
  connectionLimiter: ConnectionLimiter
  bindings: BindingStore
  /** What the identity of the lease may transfer in this process. */
  bandwidthOf: (lease: Lease) => Bandwidth
  /** Resolves when the visitor has left, or is another process's. */
  serve: (pending: PendingVisitor) => Promise<void>
  /** A visitor without a ClientHello has as long as every other. */
  serveRaw: (visitor: Socket, lease: Lease) => Promise<void>
  /** Closes a visitor of a source that has more than its share of the lease's. */
  makeRoom: (lease: Lease) => void
  close: () => void
}

export function createDataPlane({
  processes,
  processIndex,
  clientAddresses,
  routes,
  policy,
  connectionsMax,
  pipe,
  makeRoomElsewhere,
  serveRoot,
  log,
}: PlaneParts): DataPlane {
  const counters = new RelayCounters()
  const claims = new SessionClaimer(counters, makeRoomElsewhere)
  const visitors = new Visitors(log)
  const bindings = new BindingStore(processes > 1 ? processIndex : undefined)
  const overload = new OverloadMonitor()
  const onRefuse = (reason: Refusal): void => counters.connectionsRefused.add({ reason })
  const connectionLimiter = new ConnectionLimiter({ isOverloaded: () => overload.isOverloaded, onRefuse })
  const bandwidths = new WeakMap<Lease, Bandwidth>()
  const bandwidthOf = (lease: Lease): Bandwidth => {
    // An even share, so that all processes together stay below the limit without asking each other.
    const bandwidth = bandwidths.get(lease) ?? new Bandwidth(() => policy.bytesPerSecond(lease) / processes)
    bandwidths.set(lease, bandwidth)
    return bandwidth
  }
  const raw = new TcpVisitors()
  policy.onChange(() => {
    visitors.closeUnrouted((lease) => policy.routes(lease))
    if (!policy.file.tcp_port_enabled) raw.close()
  })
  const serve = (pending: PendingVisitor): Promise<void> => {
    const { visitor, lease, hello } = pending
    if (hello === undefined) raw.add(visitor)
    const bridging = { bindings, bandwidth: bandwidthOf(lease), claims, pipe }
    return visitors.serve(visitor, lease, () =>
      hello === undefined
        ? serveTcpVisitor(pending, bridging)
        : serveTlsVisitor({ ...pending, hello }, bridging),
    )
  }
  const arrive = (visitor: Socket, lease: Lease, hello?: PeekedHello): Promise<void> => {
    const source = clientAddresses.ofSocket(visitor)
    const network = source === undefined ? undefined : networkOf(source)
    const isLowPriority = claims.isLowPriority({ lease, network })
    const arrivedAt = performance.now()
    return serve({
      visitor,
      lease,
      hello,
      arrivedAt,
      sessionsLost: 0,
      network,
      isLowPriority,
      handedOverBy: undefined,
    })
  }
  const listener = createSniListener(
    {
      readProxyHeader: (socket, until) => clientAddresses.admit(socket, until),
      admit: (socket) => connectionLimiter.admit(socket, clientAddresses.ofSocket(socket)),
      onClientHello: (socket) => connectionLimiter.onClientHello(socket),
      resolve: (serverName) => {
        const route = routes.resolve(serverName)
        if (route?.to === 'feature') return route.isOpen() ? route : undefined
        return route?.to === 'lease' && !policy.routes(route.lease) ? undefined : route
      },
      serveRoot,
      serveLease: (visitor, hello, { lease }) => arrive(visitor, lease, hello),
    },
    connectionsMax,
    log,
  )
  listener.on('drop', () => onRefuse('full'))
  return {
    listener,
    visitors,
    counters,
    connectionLimiter,
    bindings,
    bandwidthOf,
    serve,
    serveRaw: (visitor, lease) => arrive(visitor, lease),
    makeRoom: (lease) => void claims.makeRoom(lease),
    close: () => overload.close(),
  }
}
