// Hands each visitor to what serves it: the TLS engine, or the platform's handler of TCP visitors.

import type { Activation } from '../carrier/reverse-stream.ts'
import { CONNECTIONS_DEFAULT } from '../limits.ts'
import type { Platform } from '../platform.ts'
import { ConnectionLimiter, type LimitedConnection } from '../tenant/connection-limiter.ts'
import type { ConnectionStats } from '../tenant/connection-stats.ts'
import { PressureReporter } from '../tenant/pressure-reporter.ts'
import { TenantServer, type TenantServerOptions } from '../tenant/server.ts'

interface DispatcherOptions extends Omit<TenantServerOptions, 'crypto' | 'admit' | 'endTls'> {
  platform: Platform
  maxConnections: number | undefined
  canonicalUrl(): string
  /** Called when there may be room for more visitors. */
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
    this.#server = new TenantServer({
      ...options,
      crypto: platform.tlsCrypto,
      admit: platform.admit,
      endTls: platform.endTls,
    })
    const max = maxConnections ?? platform.connectionsDefault ?? CONNECTIONS_DEFAULT
    this.#limiter = new ConnectionLimiter(max, new PressureReporter(pressure), roomCame)
  }

  get stats(): ConnectionStats {
    return this.#limiter.stats
  }

  get failedVisitors(): number {
    return this.#server.failedVisitors
  }

  /** Resolves when the SDK can offer visitors all that the site has. */
  ready(): Promise<void> {
    return this.#server.ready()
  }

  hasRoomFor(visitors: number): boolean {
    return this.#limiter.hasRoomFor(visitors)
  }

  /**
   * Serves one visitor. Settles when its connection is over, and never rejects.
   * @param ready settles when visitors can be served; when it rejects, the visitor is turned away
   */
  async serve(activation: Activation, ready: Promise<unknown>): Promise<void> {
    const connection = this.#limiter.admit()
    try {
      await ready
      await this.#serve(activation, connection)
    } catch (error) {
      activation.stream.abort(error)
    } finally {
      connection.ended()
    }
  }

  /** Ends idle connections at once, and each other one after its current response. */
  finish(): void {
    this.#limiter.stop()
    this.#server.finish()
  }

  async #serve({ stream, binding }: Activation, connection: LimitedConnection): Promise<void> {
    const { serveTls, serveRaw } = this.#options.platform
    if (binding !== undefined && !serveTls)
      return this.#server.serve({ stream, binding, connection }, this.#options.canonicalUrl())
    // The platform serves these bytes unseen by the SDK, so the connection always counts as busy.
    connection.setActivity('busy')
    const serve = binding === undefined ? serveRaw : serveTls
    if (serve) return serve(stream)
    // Nothing serves TCP visitors: the site asked for no dedicated port.
    stream.abort()
  }
}
