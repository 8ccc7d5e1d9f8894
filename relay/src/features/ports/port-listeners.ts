// Creates the dedicated ports of this relay from settings, policy and listeners.

import type { Socket } from 'node:net'
import { resetSocket } from '@svc/node-kit/sockets'
import type { Settings } from '../../core/config/settings.ts'
import type { Lease } from '../../core/lease/lease.ts'
import type { Reservations } from '../../core/lease/reservations.ts'
import type { Logger } from '../../core/log/log.ts'
import type { Policy } from '../../core/policy/policy.ts'
import type { RunningDatagrams } from '../datagrams/index.ts'
import { DedicatedPorts, restorePorts } from './dedicated-ports.ts'
import { PortAllocator } from './port-allocator.ts'
import { PortPool } from './port-pool.ts'
import { TcpPorts } from './tcp-port.ts'

export interface PortParts {
  settings: Settings
  policy: Policy
  /** Reservations from before this process began. */
  reservations: Reservations
  /** Serves the visitors of a lease's TCP port. */
  visitors: { accept(visitor: Socket, lease: Lease): Promise<void> }
  /** Connections to all TCP ports together. */
  connectionsMax: number
  /** Listeners of both transports together; each takes a file descriptor. */
  listenersMax: number
  /** Tunnels of the UDP ports; undefined when UDP is off. */
  tunnels: Pick<RunningDatagrams, 'bind' | 'hasNoTunnels'> | undefined
  log: Logger
}

export function createDedicatedPorts({
  settings,
  policy,
  reservations,
  visitors,
  connectionsMax,
  listenersMax,
  tunnels,
  log,
}: PortParts): DedicatedPorts {
  const { portGates, portRange, reservedPorts, sniPort, listenAddress } = settings
  const poolOf = (gate: boolean): PortPool | undefined =>
    // The SNI listener's port number stays free for UDP, too: the datagram tunnels arrive there.
    gate && portRange !== undefined ? new PortPool(portRange, [sniPort, ...reservedPorts]) : undefined
  const pools = { tcp: poolOf(portGates.tcp), udp: poolOf(portGates.udp) }
  restorePorts(reservations, pools)
  const tcpPorts = new TcpPorts(connectionsMax, listenAddress)
  const routes = (lease: Lease): boolean => policy.routes(lease)
  const hasRoom = (): boolean => tcp.size + udp.size < listenersMax
  const tcp: PortAllocator = new PortAllocator({
    pool: pools.tcp,
    hasRoom,
    settings: () => policy.settings.tcp_port,
    routes,
    bind: (port, currentLease) =>
      tcpPorts.open(port, (visitor) => {
        const lease = currentLease()
        if (lease === undefined || !policy.routes(lease)) resetSocket(visitor)
        else visitors.accept(visitor, lease).catch((error) => refuse(visitor, error))
      }),
    transport: 'tcp',
    log,
  })
  const udp: PortAllocator = new PortAllocator({
    pool: pools.udp,
    hasRoom,
    settings: () =>
      tunnels?.hasNoTunnels() !== false ? { enabled: false, max_leases: 0 } : policy.settings.udp,
    routes,
    bind: async (...port) => await tunnels!.bind(...port),
    transport: 'udp',
    log,
  })
  const refuse = (visitor: Socket, error: unknown): void => {
    log.error({ err: error }, 'visitor of a dedicated port failed')
    visitor.destroy()
  }
  const ports = new DedicatedPorts({ tcp, udp }, pools)
  policy.onChange(() => ports.update())
  return ports
}
