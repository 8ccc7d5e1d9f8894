// The end of a relay: nobody new comes in, who is here may finish until a deadline, then everything is closed.

import { once } from 'node:events'
import type { Server, Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type { Visitors } from './bridge/visitors.ts'
import type { WorkerPool } from './cluster/worker-pool.ts'
import type { LeaseRegistry } from './lease/lease-registry.ts'
import { CLOSE_GRACE_MS } from './limits.ts'
import type { Logger } from './log/log.ts'

/** CloseOptions say how long a relay that closes waits for its visitors. */
export interface CloseOptions {
  /** What visitors who are here get to finish, in milliseconds. By default nothing: the relay closes at once. */
  drainMs?: number | undefined
}

export interface ShutdownOptions {
  listener: Server
  leases: LeaseRegistry
  visitors: Visitors
  workers: WorkerPool
  /** What has to end after the last connection, side by side. */
  closeRest: () => Promise<unknown>[]
  log: Logger
}

export class Shutdown {
  readonly #parts: ShutdownOptions
  readonly #sockets = new Set<Socket>()
  readonly #hurry = new AbortController()
  #closing: Promise<void> | undefined

  constructor(parts: ShutdownOptions) {
    this.#parts = parts
    parts.listener.on('connection', (socket) => this.track(socket))
  }

  /** A connection that did not come through the listener, but ends with the relay, too. */
  track(socket: Socket): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }

  /** Whether no more work should be sent here. */
  get hasBegun(): boolean {
    return this.#closing !== undefined
  }

  /** Called again, without time to drain, it cuts short what the first call began. */
  close({ drainMs = 0 }: CloseOptions = {}): Promise<void> {
    if (drainMs === 0) this.#hurry.abort()
    this.#closing ??= this.#close(drainMs)
    return this.#closing
  }

  async #close(drainMs: number): Promise<void> {
    const { listener, leases, workers, closeRest, log } = this.#parts
    const closed = once(listener, 'close')
    listener.close()
    workers.stopListening()
    if (drainMs > 0) await this.#drain(drainMs)
    leases.close()
    const workersEnded = workers.end(!this.#hurry.signal.aborted)
    if (!this.#hurry.signal.aborted) await this.#sayFarewell()
    for (const socket of this.#sockets) socket.destroy()
    for (const outcome of await Promise.allSettled([closed, workersEnded, ...closeRest()]))
      if (outcome.status === 'rejected') log.error({ err: outcome.reason }, 'a part did not end in order')
    log.info('closed')
  }

  /** A site without visitors loses its carriers now, and may be back elsewhere while others still have theirs. */
  async #drain(drainMs: number): Promise<void> {
    const { leases, visitors, log } = this.#parts
    log.info({ visitors: visitors.size, drainMs }, 'draining')
    for (const lease of [...leases]) if (visitors.visitorsOf(lease) === 0) leases.end(lease, 'shutdown')
    const signal = AbortSignal.any([this.#hurry.signal, AbortSignal.timeout(drainMs)])
    await visitors.drain((lease) => leases.end(lease, 'shutdown'), signal)
    if (visitors.size > 0) log.warn({ visitors: visitors.size }, 'visitors are cut off')
  }

  /** Answers and close frames that were written last are on their way to the clients. */
  async #sayFarewell(): Promise<void> {
    const ended = [...this.#sockets].map((socket) => once(socket, 'close', { signal: this.#hurry.signal }))
    await Promise.race([
      Promise.allSettled(ended),
      // Not what keeps the process, once they are closed.
      setTimeout(CLOSE_GRACE_MS, undefined, { signal: this.#hurry.signal, ref: false }).catch(() => {}),
    ])
  }
}
