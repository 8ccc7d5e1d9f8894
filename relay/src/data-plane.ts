// What each process of a relay does with public connections: lets them in, joins visitors to sessions, and counts.

import type { Server, Socket } from 'node:net'
import { SessionClaims } from './bridge/claim-session.ts'
import type { Pipe } from './bridge/pipe.ts'
import { serveRawVisitor } from './bridge/tcp-visitor.ts'
import { RawVisitors } from './bridge/tcp-visitors.ts'
import { serveVisitor } from './bridge/tls-visitor.ts'
import { Visitors } from './bridge/visitors.ts'
import type { Sources } from './client-address/client-addresses.ts'
import { networkOf } from './client-address/ip-address.ts'
import type { PeekedHello } from './ingress/client-hello.ts'
import { Door, type Refusal } from './ingress/connection-limiter.ts'
import { Strain } from './ingress/overload-monitor.ts'
import { createListener } from './ingress/sni-listener.ts'
import { Bindings } from './keyless/bindings.ts'
import type { Lease } from './lease/lease.ts'
import type { Logger } from './log/log.ts'
import { Tally } from './metrics/relay-counters.ts'
import type { PolicyRules } from './policy/policy-rules.ts'
import { Bandwidth } from './rate-limit/bandwidth.ts'
import type { Arrival } from './reverse/pending-visitor.ts'
import type { Routes } from './routing/routing-table.ts'

interface PlaneParts {
  /** Processes that share the work, and which of them this is: the first has 0. */
  processes: number
  place: number
  sources: Sources
  routes: Routes
  policy: PolicyRules
  connectionsMax: number
  pipe: Pipe
  /** Called when a visitor waits here, and no source has more than its share of the lease's visitors in this process. */
  makeRoomElsewhere?: (lease: Lease) => void
  /** Gets connections to the root host. */
  serveRoot: (socket: Socket) => void
  log: Logger
}

export interface PublicPlane {
  listener: Server
  visitors: Visitors
  tally: Tally
  door: Door
  bindings: Bindings
  /** What the identity of the lease may transfer in this process. */
  bandwidthOf: (lease: Lease) => Bandwidth
  /** Resolves when the visitor has left, or is another process's. */
  serve: (arrival: Arrival) => Promise<void>
  /** A visitor without a ClientHello has as long as every other. */
  serveRaw: (visitor: Socket, lease: Lease) => Promise<void>
  /** Closes a visitor of a source that has more than its share of the lease's. */
  makeRoom: (lease: Lease) => void
  close: () => void
}

export function createPublicPlane({
  processes,
  place,
  sources,
  routes,
  policy,
  connectionsMax,
  pipe,
  makeRoomElsewhere,
  serveRoot,
  log,
}: PlaneParts): PublicPlane {
  const tally = new Tally()
  const claims = new SessionClaims(tally, makeRoomElsewhere)
  const visitors = new Visitors(log)
  const bindings = new Bindings(processes > 1 ? place : undefined)
  const strain = new Strain()
  const refused = (reason: Refusal): void => tally.connectionsRefused.add({ reason })
  const door = new Door({ isOverloaded: () => strain.isOver, refused })
  const bandwidths = new WeakMap<Lease, Bandwidth>()
  const bandwidthOf = (lease: Lease): Bandwidth => {
    // An even share, so that all processes together stay below the limit without asking each other.
    const bandwidth = bandwidths.get(lease) ?? new Bandwidth(() => policy.bytesPerSecond(lease) / processes)
    bandwidths.set(lease, bandwidth)
    return bandwidth
  }
  const raw = new RawVisitors()
  policy.onChange(() => {
    visitors.keep((lease) => policy.routes(lease))
    if (!policy.file.tcp_port_enabled) raw.close()
  })
  const serve = (arrival: Arrival): Promise<void> => {
    const { visitor, lease, hello } = arrival
    if (hello === undefined) raw.add(visitor)
    const bridging = { bindings, bandwidth: bandwidthOf(lease), claims, pipe }
    return visitors.serve(visitor, lease, () =>
      hello === undefined
        ? serveRawVisitor(arrival, bridging)
        : serveVisitor({ ...arrival, hello }, bridging),
    )
  }
  const arrive = (visitor: Socket, lease: Lease, hello?: PeekedHello): Promise<void> => {
    const source = sources.ofSocket(visitor)
    const network = source === undefined ? undefined : networkOf(source)
    const isLast = claims.isLast({ lease, network })
    const cameAt = performance.now()
    return serve({ visitor, lease, hello, cameAt, sessionsLost: 0, network, isLast, from: undefined })
  }
  const listener = createListener(
    {
      admit: (socket, until) => sources.admit(socket, until),
      enter: (socket) => door.enter(socket, sources.ofSocket(socket)),
      spoke: (socket) => door.spoke(socket),
      resolve: (serverName) => {
        const route = routes.resolve(serverName)
        return route?.to === 'lease' && !policy.routes(route.lease) ? undefined : route
      },
      serveRoot,
      serveLease: (visitor, hello, { lease }) => arrive(visitor, lease, hello),
    },
    connectionsMax,
    log,
  )
  listener.on('drop', () => refused('full'))
  return {
    listener,
    visitors,
    tally,
    door,
    bindings,
    bandwidthOf,
    serve,
    serveRaw: (visitor, lease) => arrive(visitor, lease),
    makeRoom: (lease) => void claims.makeRoom(lease),
    close: () => strain.close(),
  }
}
