// Allocates the dedicated ports of one transport, and keeps each open exactly while its lease is routed.

import type { ErrorCode, PolicyPortSettings } from '@svc/protocol'
import { RelayError } from '../../core/errors.ts'
import type { BoundPort } from '../../core/ingress/udp-port.ts'
import type { Lease } from '../../core/lease/lease.ts'
import { portDisabled } from '../../core/lease/lease-draft.ts'
import type { Transport } from '../../core/lease/lease-ports.ts'
import type { Logger } from '../../core/log/log.ts'
import type { PortPool } from './port-pool.ts'

/** Ports that the relay tries for one lease when other processes use them. */
const PORT_ATTEMPTS_MAX = 64

const ERRORS: Record<Transport, Record<'capacity' | 'exhausted', ErrorCode>> = {
  tcp: { capacity: 'tcp_port_capacity_exceeded', exhausted: 'tcp_port_exhausted' },
  udp: { capacity: 'udp_capacity_exceeded', exhausted: 'udp_port_exhausted' },
}

export interface PortAllocatorOptions {
  /** Undefined when the settings allow no ports of this transport or give no range. */
  pool: PortPool | undefined
  /** The administrator's switch and limit. */
  settings: () => PolicyPortSettings
  /** Whether this process may open another listener. */
  hasRoom: () => boolean
  /** Whether visitors may reach the lease. */
  routes: (lease: Lease) => boolean
  /**
   * Rejects when the port cannot be bound.
   * @param currentLease returns the lease that has the port; undefined before it is served
   */
  bind: (port: number, currentLease: () => Lease | undefined) => Promise<BoundPort>
  transport: Transport
  log: Logger
}

/** One identity's claim on its port, from before a lease is registered until that lease ends. */
export interface PortClaim {
  port: number
  serve(lease: Lease): void
  /** Ends the claim. The port closes with its last claim, so a replacing lease takes it over while it is open. */
  release(): void
}

interface Entry {
  key: string
  claims: number
  port: number
  opening: Promise<void>
  bound: BoundPort | undefined
  isBinding: boolean
  lease: Lease | undefined
}

export class PortAllocator {
  readonly #options: PortAllocatorOptions
  readonly #entries = new Map<string, Entry>()

  constructor(options: PortAllocatorOptions) {
    this.#options = options
  }

  /** Ports that are open, or may be opened again at any time. */
  get size(): number {
    return this.#entries.size
  }

  /** @throws RelayError when the identity would get no port, because of the settings, the policy or a limit */
  require(key: string): PortPool {
    const { pool, transport } = this.#options
    const { capacity } = ERRORS[transport]
    const { enabled, max_leases } = this.#options.settings()
    if (pool === undefined || !enabled) throw portDisabled(transport)
    const others = this.#entries.size - (this.#entries.has(key) ? 1 : 0)
    if (max_leases > 0 && others >= max_leases)
      throw new RelayError(capacity, `${max_leases} leases have a port of this kind already`)
    if (!this.#entries.has(key) && !this.#options.hasRoom())
      throw new RelayError(capacity, 'this relay may not open another port')
    return pool
  }

  /** @throws RelayError as {@link require} does, or when no port is free */
  async claim(key: string): Promise<PortClaim> {
    const pool = this.require(key)
    const entry = this.#entries.get(key) ?? this.#begin(key, pool)
    entry.claims += 1
    try {
      await entry.opening
    } catch (error) {
      this.#release(entry)
      throw error
    }
    return {
      port: entry.port,
      serve: (lease) => {
        entry.lease = lease
        void this.#update(entry)
      },
      release: () => this.#release(entry),
    }
  }

  /** Applies a change of the policy: closes ports that may no longer be open, and reopens those that may. */
  update(): void {
    for (const entry of this.#entries.values()) void this.#update(entry)
  }

  #begin(key: string, pool: PortPool): Entry {
    const entry: Entry = {
      key,
      claims: 0,
      port: 0,
      opening: Promise.resolve(),
      bound: undefined,
      isBinding: true,
      lease: undefined,
    }
    this.#entries.set(key, entry)
    entry.opening = this.#openAny(entry, pool)
    return entry
  }

  async #openAny(entry: Entry, pool: PortPool): Promise<void> {
    let attempts = 0
    for (const port of pool.free(entry.key)) {
      if (attempts++ === PORT_ATTEMPTS_MAX) break
      // The port is held before it is bound, so that no other lease tries it meanwhile.
      pool.hold(entry.key, port)
      try {
        entry.bound = await this.#bind(entry, port)
        entry.port = port
        entry.isBinding = false
        return
      } catch (error) {
        this.#options.log.debug({ err: error, port }, 'a port of the range cannot be bound')
        pool.markInUse(port)
      }
    }
    throw new RelayError(ERRORS[this.#options.transport].exhausted, 'no port is free')
  }

  async #update(entry: Entry): Promise<void> {
    if (!this.#mayBeOpen(entry)) {
      entry.bound?.close()
      entry.bound = undefined
      return
    }
    if (entry.bound !== undefined || entry.isBinding) return
    entry.isBinding = true
    try {
      entry.bound = await this.#bind(entry, entry.port)
    } catch (error) {
      this.#options.log.warn({ err: error, port: entry.port }, "a lease's port cannot be opened again")
    }
    entry.isBinding = false
    // The policy may have changed again in the meantime.
    if (!this.#mayBeOpen(entry)) await this.#update(entry)
  }

  #mayBeOpen({ lease, claims }: Entry): boolean {
    const { settings, routes } = this.#options
    return claims > 0 && lease !== undefined && settings().enabled && routes(lease)
  }

  #bind(entry: Entry, port: number): Promise<BoundPort> {
    return this.#options.bind(port, () => entry.lease)
  }

  #release(entry: Entry): void {
    entry.claims -= 1
    if (entry.claims > 0) return
    this.#entries.delete(entry.key)
    this.#options.pool?.release(entry.key)
    void this.#update(entry)
  }
}
