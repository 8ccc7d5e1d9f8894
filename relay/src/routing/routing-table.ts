// Which lease serves a server name: an exact hostname, then a wildcard of one label, and the root host for itself.

import type { Lease } from '../lease/lease.ts'

export type Route = { to: 'root' } | { to: 'lease'; lease: Lease }

const WILDCARD = '*.'

export class RoutingTable {
  readonly #rootHost: string
  readonly #exact = new Map<string, Lease>()
  /** By what follows the wildcard label. Apart, so that no server name can spell a wildcard. */
  readonly #wildcards = new Map<string, Lease>()

  constructor(rootHost: string) {
    this.#rootHost = rootHost
  }

  /** The hostname of `label` on this relay. */
  hostname(label: string): string {
    return `${label}.${this.#rootHost}`
  }

  /** @param serverName lower case, without a trailing dot */
  resolve(serverName: string): Route | undefined {
    const exact = this.#exact.get(serverName)
    if (exact !== undefined) return { to: 'lease', lease: exact }
    if (serverName === this.#rootHost) return { to: 'root' }
    const dot = serverName.indexOf('.')
    // RFC 9525 §6.3: a wildcard stands for one whole label.
    const wildcard = dot > 0 ? this.#wildcards.get(serverName.slice(dot + 1)) : undefined
    return wildcard && { to: 'lease', lease: wildcard }
  }

  leaseOf(hostname: string): Lease | undefined {
    const [leases, name] = this.#placeOf(hostname)
    return leases.get(name)
  }

  /** @param hostname may begin with `*.`, for every label at that place that has no route of its own */
  publish(hostname: string, lease: Lease): void {
    const [leases, name] = this.#placeOf(hostname)
    leases.set(name, lease)
  }

  /** Does nothing when another lease was published there since. */
  withdraw(hostname: string, lease: Lease): void {
    const [leases, name] = this.#placeOf(hostname)
    if (leases.get(name) === lease) leases.delete(name)
  }

  #placeOf(hostname: string): [Map<string, Lease>, string] {
    return hostname.startsWith(WILDCARD)
      ? [this.#wildcards, hostname.slice(WILDCARD.length)]
      : [this.#exact, hostname]
  }
}
