// The visitors that are here: how many, what they transferred, and when the last one of a lease has left.

import type { Socket } from 'node:net'
import type { Lease } from '../lease/lease.ts'
import type { Logger } from '../log.ts'

interface Traffic {
  /** Bytes that visitors sent, their handshakes included. */
  fromVisitors: number
  toVisitors: number
}

export class Visitors {
  readonly #log: Logger
  readonly #open = new Map<Socket, Lease>()
  readonly #perLease = new Map<Lease, number>()
  /** Of those who have left. */
  readonly #past: Traffic = { fromVisitors: 0, toVisitors: 0 }
  #came = 0
  #onLeft: ((lease: Lease) => void) | undefined
  #isClosed = false

  constructor(log: Logger) {
    this.#log = log
  }

  get size(): number {
    return this.#open.size
  }

  /** Sockets count by themselves, so that the data path does not have to. */
  get traffic(): Traffic {
    const sum = { ...this.#past }
    for (const socket of this.#open.keys()) add(sum, socket)
    return sum
  }

  /** Resolves when `served` does: the visitor has left. Rejects as it does. */
  async serve(visitor: Socket, lease: Lease, serve: () => Promise<void>): Promise<void> {
    if (this.#isClosed) {
      visitor.destroy()
      return
    }
    this.#came += 1
    const log = this.#log.isLevelEnabled('debug') ? this.#log.child({ conn: this.#came }) : undefined
    log?.debug({ hostname: lease.hostnames[0] }, 'visitor came')
    this.#open.set(visitor, lease)
    this.#perLease.set(lease, this.visitorsOf(lease) + 1)
    try {
      await serve()
    } finally {
      log?.debug({ received: visitor.bytesRead, sent: visitor.bytesWritten }, 'visitor left')
      this.#leave(visitor, lease)
    }
  }

  visitorsOf(lease: Lease): number {
    return this.#perLease.get(lease) ?? 0
  }

  /**
   * Takes no more visitors, and waits for those who are here until `signal` aborts.
   * @param left is told of each lease whose last visitor has left
   */
  async finish(left: (lease: Lease) => void, signal: AbortSignal): Promise<void> {
    this.#isClosed = true
    if (this.#perLease.size === 0 || signal.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    signal.addEventListener('abort', () => resolve(), { once: true })
    this.#onLeft = (lease) => {
      left(lease)
      if (this.#perLease.size === 0) resolve()
    }
    await promise
  }

  #leave(visitor: Socket, lease: Lease): void {
    add(this.#past, visitor)
    this.#open.delete(visitor)
    const rest = this.visitorsOf(lease) - 1
    if (rest > 0) {
      this.#perLease.set(lease, rest)
    } else {
      this.#perLease.delete(lease)
      this.#onLeft?.(lease)
    }
  }
}

function add(sum: Traffic, socket: Socket): void {
  sum.fromVisitors += socket.bytesRead
  sum.toVisitors += socket.bytesWritten
}
