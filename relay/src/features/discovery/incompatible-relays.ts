// Relays of other protocol versions, for operators who wonder why one is not used.

import type { DiscoveryResponse } from '@svc/protocol'
import { INCOMPATIBLE_MAX } from './limits.ts'

export class IncompatibleRelays {
  /** By origin; the least recently seen is first. */
  readonly #seen = new Map<string, { protocolVersion: string; at: Date }>()

  add(origin: string, protocolVersion: string): void {
    this.#seen.delete(origin)
    this.#seen.set(origin, { protocolVersion, at: new Date() })
    if (this.#seen.size > INCOMPATIBLE_MAX) this.#seen.delete(this.#seen.keys().next().value!)
  }

  remove(origin: string): void {
    this.#seen.delete(origin)
  }

  get list(): DiscoveryResponse['incompatible_relays'] {
    return [...this.#seen].map(([url, { protocolVersion, at }]) => ({
      url,
      protocol_version: protocolVersion,
      last_seen_at: at.toISOString(),
    }))
  }
}
