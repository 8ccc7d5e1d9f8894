// Visitors of dedicated ports, wherever they are served: they close when their port does, which may be in another process.

import type { Socket } from 'node:net'
import type { Lease } from '../lease/lease.ts'

export class RawVisitors {
  readonly #open = new Map<Socket, Lease>()

  add(visitor: Socket, lease: Lease): void {
    this.#open.set(visitor, lease)
    visitor.once('close', () => this.#open.delete(visitor))
  }

  /** Closes those of all other leases, as their ports do. */
  keep(routes: (lease: Lease) => boolean): void {
    for (const [visitor, lease] of this.#open) if (!routes(lease)) visitor.destroy()
  }
}
