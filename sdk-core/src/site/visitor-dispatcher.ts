// Hands each visitor to what serves it: the TLS engine, or what the platform has for that.

import type { Activation } from '../carrier/reverse-stream.ts'
import { CONNECTIONS_DEFAULT } from '../limits.ts'
import type { Platform } from '../platform.ts'
import { ConnectionLimiter, type LimitedConnection } from '../tenant/connection-limiter.ts'
import type { ConnectionStats } from '../tenant/connection-stats.ts'
import { PressureReporter } from '../tenant/pressure-reporter.ts'
import { TenantServer, type TenantServerOptions } from '../tenant/server.ts'

interface DispatcherOptions extends Omit<TenantServerOptions, 'crypto' | 'admit'> {
  platform: Platform
  maxConnections: number | undefined
  canonicalUrl(): string
  /** There may be room for more. */
  roomCame(): void
  pressure(closedForOthers: number, isFull: boolean): void
}

export class VisitorDispatcher {
  #options: DispatcherOptions
  #server: TenantServer
  #limiter: ConnectionLimiter

  constructor(options: DispatcherOptions) {
    const { platform, maxConnections, roomCame, pressure } = options
    this.#options = options
    this.#server = new TenantServer({ ...options, crypto: platform.tlsCrypto, admit: platform.admit })
    const max = maxConnections ?? platform.connectionsDefault ?? CONNECTIONS_DEFAULT
    this.#limiter = new ConnectionLimiter(max, new PressureReporter(pressure), roomCame)
  }

  get stats(): ConnectionStats {
    return this.#limiter.stats
  }

  /** Resolves when visitors get all that the site offers. */
  ready(): Promise<void> {
    return this.#server.ready()
  }

  hasRoomFor(visitors: number): boolean {
    return this.#limiter.hasRoomFor(visitors)
  }

  /** Settles when the visitor's connection is over; never rejects. */
  async serve(activation: Activation): Promise<void> {
    const connection = this.#limiter.admit()
    try {
      await this.#serve(activation, connection)
    } finally {
      connection.ended()
    }
  }

  /** Ends the connections on which nothing happens; the others end behind the response that is on. */
  finish(): void {
    this.#limiter.stop()
    this.#server.finish()
  }

  async #serve({ stream, binding }: Activation, connection: LimitedConnection): Promise<void> {
    const { serveTls, serveRaw } = this.#options.platform
    if (binding !== undefined && !serveTls)
      return this.#server.serve({ stream, binding, connection }, this.#options.canonicalUrl())
    // whether anything happens there, nobody here knows
    connection.setActivity('busy')
    const serve = binding === undefined ? serveRaw : serveTls
    if (serve) return serve(stream)
    // no port was asked for
    stream.abort()
  }
}
