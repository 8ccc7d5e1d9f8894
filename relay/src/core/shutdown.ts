// Ends a relay: it accepts no new connections, lets visitors finish until a deadline, then closes everything.

import { once } from 'node:events'
import type { Server } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Visitors } from './bridge/visitors.ts'
import type { OpenSockets } from './ingress/open-sockets.ts'
import type { LeaseRegistry } from './lease/lease-registry.ts'
import type { Logger } from './log/log.ts'
import type { Peers } from './peers.ts'
import type { ConnectEndpoint } from './reverse/connect-endpoint.ts'
import type { StartedParts } from './started-parts.ts'

/** Time that visitors have to finish when the relay shuts down. Supervisors wait longer before they kill. */
export const DRAIN_MS = 10_000
/**
 * Leases whose sites a leaving machine sends to the others in one turn, and the pause before the next ones: 5,000 a
 * second.
 */
const LEAVING_LEASES_AT_ONCE = 100
const LEAVING_PAUSE_MS = 20

/** CloseOptions say how long a relay that closes waits for its visitors. */
export interface CloseOptions {
  /** Time for connected visitors to finish, in milliseconds. @default 0: the relay closes at once */
  drainMs?: number | undefined
}

export interface ShutdownOptions {
  listener: Server
  leases: LeaseRegistry
  visitors: Visitors
  /** If there are other machines, the sites move there. */
  peers: Peers
  connect: Pick<ConnectEndpoint, 'leave' | 'closeCarriers'>
  /** Those of the listener, and those that came from workers. */
  sockets: OpenSockets
  /** Aborted as soon as the relay begins to close. */
  closing: AbortController
  /** The other parts, which end after the last connection. */
  started: StartedParts
  log: Logger
}

export class Shutdown {
  readonly #parts: ShutdownOptions
  readonly #hurry = new AbortController()
  #closing: Promise<void> | undefined

  constructor(parts: ShutdownOptions) {
    this.#parts = parts
  }

  /** A second call without time to drain cuts the first one's drain short. */
  close({ drainMs = 0 }: CloseOptions = {}): Promise<void> {
    if (drainMs === 0) this.#hurry.abort()
    this.#parts.closing.abort()
    this.#closing ??= this.#close(drainMs)
    return this.#closing
  }

  async #close(drainMs: number): Promise<void> {
    const { listener, leases, peers, connect, sockets, started, log } = this.#parts
    const { processes, machines } = peers
    if (drainMs > 0) await machines?.leave(this.#hurry.signal)
    const closed = once(listener, 'close')
    listener.close()
    processes?.stopListening()
    if (drainMs > 0) await (machines === undefined ? this.#drain(drainMs) : this.#leave(drainMs))
    // The leases continue at the other machines.
    if (machines !== undefined) for (const lease of leases) connect.closeCarriers(lease)
    leases.close()
    const workersEnded = processes?.end(!this.#hurry.signal.aborted)
    // The last responses and close frames are still on their way to the clients.
    if (!this.#hurry.signal.aborted) await sockets.closedOrLate(this.#hurry.signal)
    sockets.destroyAll()
    for (const outcome of await Promise.allSettled([closed, workersEnded, started.close()]))
      if (outcome.status === 'rejected')
        log.error({ err: outcome.reason }, 'a part of the relay did not end in order')
    log.info('closed')
  }

  /** Sends the sessions of all sites to other machines, and lets the visitors who are here finish. */
  async #leave(drainMs: number): Promise<void> {
    const { leases, visitors, peers, connect, log } = this.#parts
    log.info({ visitors: visitors.size, drainMs }, 'leaving: the sites go to other machines')
    const signal = AbortSignal.any([this.#hurry.signal, AbortSignal.timeout(drainMs)])
    peers.processes?.leave()
    let left = 0
    for (const lease of [...leases]) {
      if (!connect.leave(lease)) continue
      left += 1
      // All sites at once would overload the other machines.
      if (left % LEAVING_LEASES_AT_ONCE === 0)
        await pause(LEAVING_PAUSE_MS, undefined, { signal }).catch(() => {})
    }
    await visitors.drain(() => {}, signal)
    if (visitors.size > 0) log.warn({ visitors: visitors.size }, 'visitors are cut off')
  }

  /** Ends leases without visitors at once, so that their SDKs can move to another relay, and the others when idle. */
  async #drain(drainMs: number): Promise<void> {
    const { leases, visitors, log } = this.#parts
    log.info({ visitors: visitors.size, drainMs }, 'draining')
    for (const lease of [...leases]) if (visitors.visitorsOf(lease) === 0) leases.end(lease, 'shutdown')
    const signal = AbortSignal.any([this.#hurry.signal, AbortSignal.timeout(drainMs)])
    await visitors.drain((lease) => leases.end(lease, 'shutdown'), signal)
    if (visitors.size > 0) log.warn({ visitors: visitors.size }, 'visitors are cut off')
  }
}
