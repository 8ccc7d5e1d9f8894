// Defines the routes of a public connection: to the relay itself, to the reverse sessions of a lease, or to another feature.

import type { Socket } from 'node:net'
import type { LeaseRoute } from './lease.ts'

/** A feature that serves visitors itself, such as a stored snapshot or a hop to another relay. It may outlive its lease. */
export interface FeatureRoute {
  readonly to: 'feature'
  /** True when it has only a page that says that the site is away. */
  readonly isAwayPage?: boolean
  /** Whether visitors may come now; otherwise they are refused as if nobody had the hostname. */
  isOpen(): boolean
  /**
   * Called with the socket, paused, as if nothing had been read from it.
   * @param clientIp client address; undefined for a trusted proxy that named no client
   */
  serve(socket: Socket, serverName: string, clientIp: string | undefined): Promise<void>
}

export type Route = { readonly to: 'root' } | LeaseRoute | FeatureRoute

/** The route of the root host. */
export const ROOT_ROUTE: Route = { to: 'root' }
