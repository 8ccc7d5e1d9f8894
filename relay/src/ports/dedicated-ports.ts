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
  readonly #planes: Record<Transport, PortAllocator>

  constructor(planes: Record<Transport, PortAllocator>) {
    this.#planes = planes
  }

  /** @throws RelayError when one that is wanted cannot be had, as far as that is known before trying */
  require(key: string, wanted: RequestedPorts): void {
    for (const transport of TRANSPORTS) if (wanted[transport]) this.#planes[transport].require(key)
  }

  /**
   * All that is wanted, or nothing.
   * @throws RelayError as {@link require} does, or when no port is free
   */
  async claim(key: string, wanted: RequestedPorts): Promise<ClaimedPorts> {
    const tcp = wanted.tcp ? await this.#planes.tcp.claim(key) : undefined
    try {
      const udp = wanted.udp ? await this.#planes.udp.claim(key) : undefined
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
    for (const transport of TRANSPORTS) this.#planes[transport].update()
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
