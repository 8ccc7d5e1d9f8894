// Serves the public connections of one process: it admits them, joins visitors to sessions, and counts.

import type { Server, Socket } from 'node:net'
import { SessionClaimer } from './bridge/claim-session.ts'
import type { Pipe } from './bridge/pipe.ts'
import { TcpVisitors } from './bridge/tcp-visitors.ts'
import { VisitorServer } from './bridge/visitor-server.ts'
import type { Visitors } from './bridge/visitors.ts'
import type { ClientAddresses } from './client-address/client-addresses.ts'
import { ConnectionLimiter } from './ingress/connection-limiter.ts'
import { OverloadMonitor } from './ingress/overload-monitor.ts'
import { createSniListener, type SniListenerParts } from './ingress/sni-listener.ts'
import { BindingStore } from './keyless/bindings.ts'
import type { Lease } from './lease/lease.ts'
import type { Route } from './lease/route.ts'
import type { Logger } from './log/log.ts'
import type { Refusal } from './metrics/labels.ts'
import type { RelayCounters } from './metrics/relay-counters.ts'
import { IdentityBandwidths } from './policy/identity-bandwidths.ts'
import type { PolicyRules } from './policy/policy-rules.ts'
import type { RoutingTable } from './routing/routing-table.ts'

export interface DataPlaneParts {
  /** Processes that share the work at this moment, those of all machines. */
  processes: () => number
  /** The first bytes of this process's bindings; undefined if no other process has any. */
  bindingMark: Uint8Array | undefined
  clientAddresses: ClientAddresses
  routes: RoutingTable<Route>
  policy: PolicyRules
  visitors: Visitors
  counters: RelayCounters
  pipe: Pipe
  /** Whether the relay has a certificate. */
  isReady: () => boolean
  /** Called when a visitor waits here, and no network has more than its share of the lease's visitors in this process. */
  makeRoomElsewhere?: (lease: Lease) => void
  log: Logger
}

export class DataPlane {
  readonly connectionLimiter: ConnectionLimiter
  readonly bindings: BindingStore
  readonly bandwidths: IdentityBandwidths
  readonly visitorServer: VisitorServer
  readonly #parts: DataPlaneParts
  readonly #claims: SessionClaimer
  readonly #overload: OverloadMonitor = new OverloadMonitor()
  #listener: Server | undefined

  constructor(parts: DataPlaneParts) {
    this.#parts = parts
    const { processes, bindingMark, policy, visitors, makeRoomElsewhere } = parts
    this.#claims = new SessionClaimer(parts.counters, makeRoomElsewhere)
    this.bindings = new BindingStore(bindingMark)
    this.bandwidths = new IdentityBandwidths(policy, processes)
    this.connectionLimiter = new ConnectionLimiter({
      isOverloaded: () => this.#overload.isOverloaded,
      onRefuse: (reason) => this.#refused(reason),
    })
    const tcpVisitors = new TcpVisitors()
    this.visitorServer = new VisitorServer({
      ...parts,
      tcpVisitors,
      claims: this.#claims,
      bindings: this.bindings,
      bandwidths: this.bandwidths,
    })
    policy.onChange(() => {
      visitors.closeUnrouted((lease) => policy.routes(lease))
      if (!policy.file.tcp_port_enabled) tcpVisitors.close()
    })
  }

  /** Makes the listener of public connections, which does not listen yet. */
  createListener(options: Pick<SniListenerParts, 'connectionsMax' | 'serveRoot' | 'proveName'>): Server {
    const { connectionLimiter, visitorServer: visitors } = this
    this.#listener = createSniListener({ ...this.#parts, ...options, connectionLimiter, visitors })
    return this.#listener.on('drop', () => this.#refused('full'))
  }

  /** Serves a connection as one to the relay's public port. */
  serveVisitor(socket: Socket): void {
    this.#listener?.emit('connection', socket)
  }

  /** Closes a visitor of the lease from a network that has more than its share. */
  makeRoom(lease: Lease): void {
    this.#claims.makeRoom(lease)
  }

  close(): void {
    this.#overload.close()
  }

  #refused(reason: Refusal): void {
    this.#parts.counters.connectionsRefused.add({ reason })
  }
}
