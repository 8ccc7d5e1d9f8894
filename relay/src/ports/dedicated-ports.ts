// The ports of a lease beside its hostnames: one for TCP, one for UDP, each from a plane of its own.

import { PORT_RESERVATION_MS } from '@svc/protocol'
import type { Lease } from '../lease/lease.ts'
import type { LeasePorts, Reservation } from '../lease/reservations.ts'
import type { PortAllocator } from './port-allocator.ts'
import type { PortPool } from './port-pool.ts'

export type Transport = keyof LeasePorts

/** Which ports a lease asks for. */
export type RequestedPorts = Partial<Record<Transport, boolean | undefined>>

export interface ClaimedPorts {
  /** Undefined when none was wanted. */
  ports: LeasePorts | undefined
  /** Until the lease ends. */
  serve(lease: Lease): void
  /** When there is no lease after all. */
  release(): void
}

const TRANSPORTS = ['tcp', 'udp'] as const

export class DedicatedPorts {
  readonly #allocators: Record<Transport, PortAllocator>

  constructor(allocators: Record<Transport, PortAllocator>) {
    this.#allocators = allocators
  }

  /** @throws RelayError when one that is wanted cannot be had, as far as that is known before trying */
  require(key: string, requested: RequestedPorts): void {
    for (const transport of TRANSPORTS) if (requested[transport]) this.#allocators[transport].require(key)
  }

  /**
   * All that is wanted, or nothing.
   * @throws RelayError as {@link require} does, or when no port is free
   */
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

  /** To be called when the policy changed. */
  update(): void {
    for (const transport of TRANSPORTS) this.#allocators[transport].update()
  }
}

/** Keeps what was reserved before this process began. */
export function restorePorts(
  reservations: Iterable<[string, Reservation]>,
  pools: Partial<Record<Transport, PortPool | undefined>>,
): void {
  for (const [key, { ports, expiresAt }] of reservations)
    for (const transport of TRANSPORTS) {
      const port = ports?.[transport]
      if (port !== undefined) pools[transport]?.restore(key, port, expiresAt + PORT_RESERVATION_MS)
    }
}
