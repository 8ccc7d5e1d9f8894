// Assigns the ports of the range to identities. TCP and UDP each have a pool over the same range.

import { PORT_RESERVATION_MS } from '@svc/protocol'
import { now } from '../../core/clock.ts'
import type { PortRange } from '../../core/config/settings.ts'

/** How long the relay does not try a port that another process uses. */
const PORT_IN_USE_RETRY_MS = 60_000

interface Holding {
  port: number
  /** Relay time until which no other identity gets the port. */
  until: number
}

export class PortPool {
  readonly #range: PortRange
  /** By identity key; the identity that released its port first comes first. */
  readonly #holdings = new Map<string, Holding>()
  /** Port → identity key. */
  readonly #holders = new Map<number, string>()
  /** Port that another process uses → relay time at which it is tried again. */
  readonly #inUse = new Map<number, number>()

  /** @param except ports of the relay itself, which no lease gets */
  constructor(range: PortRange, except: readonly number[] = []) {
    this.#range = range
    for (const port of except) this.#inUse.set(port, Number.POSITIVE_INFINITY)
  }

  /** Yields the ports that `key` may hold: the one it had, then unassigned ones, then those released first. */
  *free(key: string): Generator<number> {
    const time = now()
    const own = this.#holdings.get(key)
    if (own !== undefined) yield own.port
    for (let port = this.#range.min; port <= this.#range.max; port++)
      if (!this.#holders.has(port) && (this.#inUse.get(port) ?? 0) <= time) yield port
    for (const [holder, { port, until }] of this.#holdings) if (until <= time && holder !== key) yield port
  }

  /** Assigns the port to `key`, also when another identity's reservation of it has expired. */
  hold(key: string, port: number): void {
    this.#assign(key, { port, until: Number.POSITIVE_INFINITY })
  }

  /** Reserves the port for `key` for {@link PORT_RESERVATION_MS}. `key` is offered this port first. */
  release(key: string): void {
    const holding = this.#holdings.get(key)
    if (holding !== undefined) this.restore(key, holding.port, now() + PORT_RESERVATION_MS)
  }

  /** Restores a reservation. Ignores a port outside the range or of another identity. */
  restore(key: string, port: number, until: number): void {
    const { min, max } = this.#range
    const holder = this.#holders.get(port)
    if (port >= min && port <= max && (holder === undefined || holder === key))
      this.#assign(key, { port, until })
  }

  /** Records that another process uses the port. */
  markInUse(port: number): void {
    const holder = this.#holders.get(port)
    if (holder !== undefined) this.#holdings.delete(holder)
    this.#holders.delete(port)
    this.#inUse.set(port, now() + PORT_IN_USE_RETRY_MS)
  }

  #assign(key: string, holding: Holding): void {
    const before = this.#holdings.get(key)
    if (before !== undefined) this.#holders.delete(before.port)
    const previousHolder = this.#holders.get(holding.port)
    if (previousHolder !== undefined) this.#holdings.delete(previousHolder)
    this.#holdings.delete(key)
    this.#holdings.set(key, holding)
    this.#holders.set(holding.port, key)
  }
}
