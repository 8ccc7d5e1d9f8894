// Passes each visitor of a carrier to its server: the TLS engine, or the platform's handler of TCP visitors.

import type { Activation } from '../carrier/reverse-stream.ts'
import type { SiteCertificate } from '../certificate/site-certificate.ts'
import type { Platform } from '../platform.ts'
import { ConnectionLimiter, type LimitedConnection } from '../tenant/connection-limiter.ts'
import type { ConnectionStats } from '../tenant/connection-stats.ts'
import { PressureReporter } from '../tenant/pressure-reporter.ts'
import type { TenantServer } from '../tenant/server.ts'
import type { SiteEvents } from './events.ts'
import type { Connection, ConnectionEvents } from './lifecycle.ts'
import type { RelayCarriers } from './relay-carriers.ts'

/**
 * The default limit of visitors' connections. An idle one takes about 20 KB in a page, and 60 KB in
 * Node.
 */
export const CONNECTIONS_DEFAULT = 1024

interface DispatcherOptions {
  platform: Platform
  server: TenantServer
  certificate: SiteCertificate
  maxConnections: number | undefined
  /** The carriers, which bring more visitors when there is room again. */
  carriers: Pick<RelayCarriers, 'fill'>
  events: Pick<SiteEvents, 'pressure'>
  site: Pick<ConnectionEvents, 'reached'>
  connection: Pick<Connection, 'addresses'>
}

export class VisitorDispatcher {
  #options: DispatcherOptions
  #limiter: ConnectionLimiter
  /** Settles when visitors can be served. If it rejects, visitors are refused. */
  #ready: Promise<[unknown, Awaited<ReturnType<TenantServer['ready']>>]> | undefined

  constructor(options: DispatcherOptions) {
    const { platform, maxConnections, carriers, events } = options
    this.#options = options
    const max = maxConnections ?? platform.connectionsDefault ?? CONNECTIONS_DEFAULT
    const pressure = new PressureReporter((...figures) => events.pressure(...figures))
    this.#limiter = new ConnectionLimiter(max, pressure, () => carriers.fill())
  }

  get stats(): ConnectionStats {
    return this.#limiter.stats
  }

  get failedVisitors(): number {
    return this.#options.server.failedVisitors
  }

  /**
   * Gets ready for visitors; early ones wait. Resolves when the SDK can offer all that the
   * site has.
   * @throws SvcError when they cannot be served
   */
  async prepare(signal: AbortSignal): Promise<void> {
    this.#ready = Promise.all([this.#options.certificate.ensure(signal), this.#options.server.ready()])
    await this.#ready
  }

  hasRoomFor(visitors: number): boolean {
    return this.#limiter.hasRoomFor(visitors)
  }

  /** Serves one visitor. Settles when its connection is over, and never rejects. */
  async serve(activation: Activation): Promise<void> {
    this.#options.site.reached()
    const connection = this.#limiter.admit()
    try {
      const late = (await this.#ready)?.[1]
      if (activation.binding !== undefined) await this.#options.certificate.available()
      await this.#serve(late ? await late.readVisitorAddress(activation) : activation, connection)
    } catch (error) {
      activation.stream.abort(error)
    } finally {
      connection.ended()
    }
  }

  /** Ends idle connections at once, and the others after their current response. */
  finish(): void {
    this.#limiter.stop()
    this.#options.server.finish()
  }

  async #serve({ stream, binding, visitor }: Activation, connection: LimitedConnection): Promise<void> {
    const { serveTls, serveRaw } = this.#options.platform
    if (binding !== undefined && !serveTls)
      return this.#options.server.serve(
        { stream, binding, connection, remote: visitor?.remote },
        this.#options.connection.addresses.canonicalUrl,
      )
    // The SDK cannot see what the platform serves, so the connection always counts as busy.
    connection.setActivity('busy')
    const serve = binding === undefined ? serveRaw : serveTls
    if (serve) return serve(stream, visitor)
    // Nothing serves TCP visitors, because the site has no dedicated port.
    stream.abort()
  }
}
