// The open connections of visitors, by site: how many a site and a network may have, and how those of a site end.

import { SITE_CONNECTIONS_MAX, SITE_CONNECTIONS_PER_NETWORK_MAX } from './limits.ts'
import type { VisitorConnection } from './visitor-connection.ts'

interface Site {
  readonly connections: Set<VisitorConnection>
  /** Number of connections by network. */
  readonly byNetwork: Map<string, number>
}

export class SiteConnections {
  readonly #max: { perSite: number; perNetwork: number }
  readonly #sites = new Map<string, Site>()
  #size = 0

  constructor(
    max: { perSite: number; perNetwork: number } = {
      perSite: SITE_CONNECTIONS_MAX,
      perNetwork: SITE_CONNECTIONS_PER_NETWORK_MAX,
    },
  ) {
    this.#max = max
  }

  get size(): number {
    return this.#size
  }

  /** Counts a connection until it is removed. @returns whether the site and the network may have one more */
  add(connection: VisitorConnection): boolean {
    const { hostname, network } = connection
    const site = this.#sites.get(hostname) ?? { connections: new Set(), byNetwork: new Map() }
    const ofNetwork = site.byNetwork.get(network) ?? 0
    if (site.connections.size >= this.#max.perSite || ofNetwork >= this.#max.perNetwork) return false
    this.#sites.set(hostname, site)
    site.connections.add(connection)
    this.#size += 1
    site.byNetwork.set(network, ofNetwork + 1)
    return true
  }

  remove(connection: VisitorConnection): void {
    const { hostname, network } = connection
    const site = this.#sites.get(hostname)
    if (!site?.connections.delete(connection)) return
    this.#size -= 1
    const ofNetwork = (site.byNetwork.get(network) ?? 1) - 1
    if (ofNetwork > 0) site.byNetwork.set(network, ofNetwork)
    else site.byNetwork.delete(network)
    if (site.connections.size === 0) this.#sites.delete(hostname)
  }

  /** The connections of a site, as they are now. */
  of(hostname: string): VisitorConnection[] {
    return [...(this.#sites.get(hostname)?.connections ?? [])]
  }

  /** Those of all sites. */
  all(): VisitorConnection[] {
    return [...this.#sites.values()].flatMap(({ connections }) => [...connections])
  }
}
