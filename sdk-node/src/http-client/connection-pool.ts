// The connection pool of one target: the most recently used idle connection serves the next request.

import type { Socket } from 'node:net'
import { TargetConnection } from './connection.ts'
import type { TargetDialer } from './target-dialer.ts'

/** The most idle connections to a local HTTP server: as many as Node's own agent keeps. */
export const TARGET_IDLE_MAX = 256
/** How long an idle connection to a local HTTP server is kept, in milliseconds: less than most servers keep theirs. */
export const TARGET_IDLE_MS = 30_000
/** How long before the local server's announced timeout the SDK closes an idle connection, in milliseconds. */
export const KEEP_ALIVE_MARGIN_MS = 1_000

interface Idle {
  connection: TargetConnection
  /** The time of `performance.now()` after which it is not used again. */
  until: number
}

export class ConnectionPool {
  readonly dialer: TargetDialer
  /** In the order in which they became idle. */
  #idle: Idle[] = []
  #sweep: NodeJS.Timeout | undefined

  constructor(dialer: TargetDialer) {
    this.dialer = dialer
  }

  /** @returns the connection that became idle last, or undefined when there is none */
  take(): TargetConnection | undefined {
    const now = performance.now()
    for (let last = this.#idle.pop(); last; last = this.#idle.pop()) {
      const { connection, until } = last
      if (!connection.isOver && now < until) {
        connection.socket.ref()
        connection.isReused = true
        return connection
      }
      connection.socket.destroy()
    }
    return undefined
  }

  /**
   * Returns a connection to the pool.
   * @param keptMs how long the target keeps it, if it says so
   */
  keep(connection: TargetConnection, keptMs: number = Number.POSITIVE_INFINITY): void {
    const ms = Math.min(TARGET_IDLE_MS, keptMs - KEEP_ALIVE_MARGIN_MS)
    if (ms <= 0 || this.#idle.length >= TARGET_IDLE_MAX) return void connection.socket.destroy()
    connection.user = undefined
    connection.socket.unref()
    this.#idle.push({ connection, until: performance.now() + ms })
    this.#sweep ??= setTimeout(() => this.#swept(), TARGET_IDLE_MS).unref()
  }

  /**
   * Opens a connection.
   * @param opened called with the socket, so that the caller can abort
   * @throws the error of the connection
   */
  async open(opened: (socket: Socket) => void): Promise<TargetConnection> {
    return new TargetConnection(await this.dialer.connect('http/1.1', opened))
  }

  #swept(): void {
    this.#sweep = undefined
    const now = performance.now()
    const left = this.#idle.filter(({ connection, until }) => {
      const isKept = !connection.isOver && now < until
      if (!isKept) connection.socket.destroy()
      return isKept
    })
    this.#idle = left
    if (left.length > 0) this.#sweep = setTimeout(() => this.#swept(), TARGET_IDLE_MS).unref()
  }
}
