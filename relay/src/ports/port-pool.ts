// Which port of the range belongs to which identity. TCP and UDP have a pool each over the same range.

import { PORT_RESERVATION_MS } from '@svc/protocol'
import { now } from '../clock.ts'
import type { PortRange } from '../config/settings.ts'
import { PORT_IN_USE_RETRY_MS } from '../limits.ts'

interface Holding {
  port: number
  /** Relay time: nobody else gets the port before. */
  until: number
}

export class PortPool {
  readonly #range: PortRange
  /** By identity key; whoever let go of its port first comes first. */
  readonly #holdings = new Map<string, Holding>()
  /** Port → identity key. */
  readonly #holders = new Map<number, string>()
  /** Port → when it is tried again, for those that other processes have. */
  readonly #inUse = new Map<number, number>()

  /** @param except never given out: the relay's own */
  constructor(range: PortRange, except: readonly number[] = []) {
    this.#range = range
    for (const port of except) this.#inUse.set(port, Number.POSITIVE_INFINITY)
  }

  /** Ports that `key` may hold now: the one it had, then those that nobody ever had, then those given up first. */
  *free(key: string): Generator<number> {
    const time = now()
    const own = this.#holdings.get(key)
    if (own !== undefined) yield own.port
    for (let port = this.#range.min; port <= this.#range.max; port++)
      if (!this.#holders.has(port) && (this.#inUse.get(port) ?? 0) <= time) yield port
    for (const [holder, { port, until }] of this.#holdings) if (until <= time && holder !== key) yield port
  }

  /** Takes the port from whoever kept it only because it was free. */
  hold(key: string, port: number): void {
    this.#assign(key, { port, until: Number.POSITIVE_INFINITY })
  }

  /** The port stays reserved for `key` for a while, and is the first that it is offered again. */
  release(key: string): void {
    const holding = this.#holdings.get(key)
    if (holding !== undefined) this.restore(key, holding.port, now() + PORT_RESERVATION_MS)
  }

  /** What was reserved before this process began. A port outside the range, or of somebody else, is not. */
  restore(key: string, port: number, until: number): void {
    const { min, max } = this.#range
    const holder = this.#holders.get(port)
    if (port >= min && port <= max && (holder === undefined || holder === key))
      this.#assign(key, { port, until })
  }

  /** Another process has the port. */
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
