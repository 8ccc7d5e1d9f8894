// Claims the dedicated ports of a lease: one for TCP, one for UDP, each from its own allocator.

import { PORT_RESERVATION_MS } from '@svc/protocol'
import type { Lease } from '../../core/lease/lease.ts'
import type { ClaimedPorts, PortClaims } from '../../core/lease/lease-draft.ts'
import type { RequestedPorts, Transport } from '../../core/lease/lease-ports.ts'
import type { Reservation } from '../../core/lease/reservations.ts'
import type { PortAllocator } from './port-allocator.ts'
import type { PortPool } from './port-pool.ts'

const TRANSPORTS = ['tcp', 'udp'] as const

export class DedicatedPorts implements PortClaims {
  readonly #allocators: Record<Transport, PortAllocator>
  readonly #pools: Pools

  constructor(allocators: Record<Transport, PortAllocator>, pools: Pools) {
    this.#allocators = allocators
    this.#pools = pools
  }

  require(key: string, requested: RequestedPorts): void {
    for (const transport of TRANSPORTS) if (requested[transport]) this.#allocators[transport].require(key)
  }

  async claim(key: string, requested: RequestedPorts): Promise<ClaimedPorts> {
    const tcp = requested.tcp ? await this.#allocators.tcp.claim(key) : undefined
    try {
      const udp = requested.udp ? await this.#allocators.udp.claim(key) : undefined
      const release = () => {
        tcp?.release()
        udp?.release()
      }
      return {
        ports: tcp || udp ? { tcp: tcp?.port, udp: udp?.port } : undefined,
        serve: (lease) => {
          lease.ended.addEventListener('abort', release, { once: true })
          tcp?.serve(lease)
          udp?.serve(lease)
        },
        release,
      }
    } catch (error) {
      tcp?.release()
      throw error
    }
  }

  /** Opens the ports that a lease had at this machine before it restarted. Those that it cannot get stay closed. */
  async resume(lease: Lease): Promise<void> {
    const { identityKey, expiresAt, ports } = lease
    restorePorts([[identityKey, { hostname: '', expiresAt, ports }]], this.#pools)
    const wanted = { tcp: lease.has('tcp'), udp: lease.has('udp') }
    const claimed = await this.claim(identityKey, wanted).catch(() => undefined)
    const hasSame = TRANSPORTS.every((transport) => claimed?.ports?.[transport] === ports?.[transport])
    if (hasSame && !lease.ended.aborted) claimed?.serve(lease)
    else claimed?.release()
  }

  /** Applies a change of the policy to all ports. */
  update(): void {
    for (const transport of TRANSPORTS) this.#allocators[transport].update()
  }
}

type Pools = Partial<Record<Transport, PortPool | undefined>>

/** Restores the reserved ports from before this process began. */
export function restorePorts(reservations: Iterable<[string, Reservation]>, pools: Pools): void {
  for (const [key, { ports, expiresAt }] of reservations)
    for (const transport of TRANSPORTS) {
      const port = ports?.[transport]
      if (port !== undefined) pools[transport]?.restore(key, port, expiresAt + PORT_RESERVATION_MS)
    }
}
