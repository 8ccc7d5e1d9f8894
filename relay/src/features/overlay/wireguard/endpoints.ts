// Resolves the hosts of peers, and caches the addresses for a while. Addresses that are not public are ignored.

import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { isPublicAddress } from '@svc/protocol'
import { backoffMs } from '@svc/protocol/timers'
import { normalizeIp } from '../../../core/client-address/ip-address.ts'
import { monotonic } from '../../../core/clock.ts'
import {
  RESOLVE_AGAIN_MS,
  RESOLVE_DEADLINE_MS,
  RESOLVE_FAILED_AGAIN_MS,
  RESOLVE_PARALLEL_MAX,
} from './limits.ts'

interface Resolved {
  /** Normalized. */
  addresses: readonly string[]
  /** Relay time. */
  at: number
  /** Failed look-ups in a row. */
  failures: number
}

export interface EndpointsParts {
  /** True when addresses that are not public are accepted, as in tests. */
  allowsLoopback: boolean
  /** Called when the addresses of an origin have changed. */
  onChange: () => void
  /** In the form of `dns.lookup`. Strangers choose the names, so it must not block a thread of the process for each. */
  lookup: LookupFunction
}

export class Endpoints {
  readonly #parts: EndpointsParts
  readonly #resolved = new Map<string, Resolved>()
  /** Origins whose look-up is waiting or running. */
  readonly #waiting = new Set<string>()
  #running = 0

  constructor(parts: EndpointsParts) {
    this.#parts = parts
  }

  /** The last known addresses of the origin's host; empty while none are known. */
  addressesOf(origin: string): readonly string[] {
    const resolved = this.#resolved.get(origin)
    if (resolved === undefined || monotonic() - resolved.at >= pauseOf(resolved)) this.#resolve(origin)
    return resolved?.addresses ?? []
  }

  /** Forgets all origins but these. */
  keep(origins: ReadonlySet<string>): void {
    for (const held of [this.#resolved, this.#waiting])
      for (const origin of held.keys()) if (!origins.has(origin)) held.delete(origin)
  }

  #resolve(origin: string): void {
    this.#waiting.add(origin)
    this.#next()
  }

  #next(): void {
    for (const origin of this.#waiting) {
      if (this.#running >= RESOLVE_PARALLEL_MAX) return
      this.#running += 1
      this.#waiting.delete(origin)
      void this.#look(origin)
    }
  }

  /** Never rejects: a host without addresses is looked up again like others. */
  async #look(origin: string): Promise<void> {
    const before = this.#resolved.get(origin)
    const addresses = before?.addresses ?? []
    const failures = before?.failures ?? 0
    this.#resolved.set(origin, { addresses, at: monotonic(), failures: failures + 1 })
    const found = await this.#lookUp(new URL(origin).hostname.replace(/^\[|\]$/g, ''))
    this.#running -= 1
    // The peer may have been removed in the meantime.
    if (this.#resolved.has(origin) && found.length > 0) {
      this.#resolved.set(origin, { addresses: found, at: monotonic(), failures: 0 })
      if (found.join() !== before?.addresses.join()) this.#parts.onChange()
    }
    this.#next()
  }

  #lookUp(host: string): Promise<string[]> {
    if (isIP(host) !== 0) return Promise.resolve(this.#allowed([host]))
    return new Promise((resolve) => {
      const late = setTimeout(resolve, RESOLVE_DEADLINE_MS, []).unref()
      this.#parts.lookup(host, { all: true }, (error, found) => {
        clearTimeout(late)
        resolve(error ? [] : this.#allowed((found as LookupAddress[]).map(({ address }) => address)))
      })
    })
  }

  #allowed(addresses: readonly string[]): string[] {
    const isAllowed = (address: string): boolean => this.#parts.allowsLoopback || isPublicAddress(address)
    return addresses.flatMap((address) => (isAllowed(address) ? [normalizeIp(address)!] : []))
  }
}

/** Milliseconds after which a name is resolved again. */
function pauseOf({ failures }: Resolved): number {
  if (failures === 0) return RESOLVE_AGAIN_MS
  return backoffMs(failures - 1, RESOLVE_FAILED_AGAIN_MS, RESOLVE_AGAIN_MS)
}
