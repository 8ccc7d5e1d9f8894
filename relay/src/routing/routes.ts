// Which lease serves a server name: the root host, or an exact hostname below it.

import type { Lease } from '../lease/lease.ts'

export type Route = { to: 'root' } | { to: 'lease'; lease: Lease }

export class Routes {
  readonly #rootHost: string
  readonly #leases = new Map<string, Lease>()

  constructor(rootHost: string) {
    this.#rootHost = rootHost
  }

  /** The hostname of `label` on this relay. */
  hostname(label: string): string {
    return `${label}.${this.#rootHost}`
  }

  /** @param serverName lower case, without a trailing dot */
  resolve(serverName: string): Route | undefined {
    const lease = this.#leases.get(serverName)
    if (lease !== undefined) return { to: 'lease', lease }
    return serverName === this.#rootHost ? { to: 'root' } : undefined
  }

  leaseOf(hostname: string): Lease | undefined {
    return this.#leases.get(hostname)
  }

  publish(hostname: string, lease: Lease): void {
    this.#leases.set(hostname, lease)
  }

  /** Does nothing when another lease was published there since. */
  withdraw(hostname: string, lease: Lease): void {
    if (this.#leases.get(hostname) === lease) this.#leases.delete(hostname)
  }
}
