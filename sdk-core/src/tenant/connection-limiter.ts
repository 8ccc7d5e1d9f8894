// Limits the connections of a site: when too many visitors come, it closes the longest idle connections.

import type { ConnectionActivity } from '../exchange/http-options.ts'
import type { ConnectionStats } from './connection-stats.ts'
import type { PressureReporter } from './pressure-reporter.ts'

/**
 * A connection that was idle for less than this is not closed for another: it is probably between two requests, or
 * its first one is on its way.
 */
export const IDLE_MIN_MS = 250
/** A handshake or a request head that takes longer than this may be aborted for another visitor. */
export const BEGINNING_MIN_MS = 5_000
/**
 * Connections that are being closed for others may exceed the limit by this share of it, or by
 * {@link LEAVING_MIN} if that is more.
 */
const LEAVING_SHARE = 0.125
/** At least this many connections may be closing for others at once. */
export const LEAVING_MIN = 8
/**
 * The time that a visitor has to answer the end of its connection. Then the SDK may abort it when others need the slot.
 */
export const LEAVING_MS = 500

/**
 * A `leaving` connection is being closed in favour of another. A `cut` one was aborted because that took too long.
 */
type State = ConnectionActivity | 'leaving' | 'cut'

/** The states in which a connection may be closed for another, in order of preference. */
const QUEUES = ['leaving', 'idle', 'beginning'] as const
type Queue = (typeof QUEUES)[number]
/**
 * A connection must have been in a state for this many milliseconds before it may be closed, or aborted, for another.
 */
const MIN_MS: Readonly<Record<Queue, number>> = {
  leaving: LEAVING_MS,
  idle: IDLE_MIN_MS,
  beginning: BEGINNING_MIN_MS,
}

export class ConnectionLimiter {
  readonly #max: number
  readonly #leavingMax: number
  readonly #pressure: PressureReporter
  readonly #roomCame: () => void
  /** The connections by state, each set in the order in which they entered it. */
  readonly #all: Readonly<Record<State, Set<LimitedConnection>>> = {
    beginning: new Set(),
    idle: new Set(),
    busy: new Set(),
    leaving: new Set(),
    cut: new Set(),
  }
  #closedForOthers = 0
  /** True when {@link hasRoomFor} found no room, so `roomCame` must be called when there may be some. */
  #isWanted = false
  #looksAt = Number.POSITIVE_INFINITY
  #looking: ReturnType<typeof setTimeout> | undefined

  /**
   * @param max the most concurrent connections; those that are being closed for others may exceed it by a share of
   *   it
   * @param roomCame called when there may be room, after {@link hasRoomFor} found none
   */
  constructor(max: number, pressure: PressureReporter, roomCame: () => void) {
    this.#max = max
    this.#leavingMax = Math.max(LEAVING_MIN, Math.floor(max * LEAVING_SHARE))
    this.#pressure = pressure
    this.#roomCame = roomCame
  }

  get stats(): ConnectionStats {
    return {
      open: Object.values(this.#all).reduce((sum, { size }) => sum + size, 0),
      idle: this.#all.idle.size,
      max: this.#max,
      closedForOthers: this.#closedForOthers,
    }
  }

  /** Returns whether this many more visitors may come: there are slots, or connections that can be closed for them. */
  hasRoomFor(count: number): boolean {
    const hasRoom = this.#candidates(count).length >= count - this.#free
    // The site is not full as long as one more visitor can come.
    if (hasRoom || count === 1) this.#pressure.full(!hasRoom)
    if (!hasRoom) {
      this.#isWanted = true
      this.#lookAtNext()
    }
    return hasRoom
  }

  /** Admits a visitor. If there is no slot for it, the longest idle connections are closed. */
  admit(): LimitedConnection {
    const connection = new LimitedConnection(this)
    this.#all.beginning.add(connection)
    for (const other of this.#candidates(0)) this.#close(other)
    return connection
  }

  /** Moves a connection to another state. @internal */
  move(connection: LimitedConnection, state: State): void {
    this.leave(connection)
    connection.state = state
    connection.since = performance.now()
    this.#all[state].add(connection)
    if (this.#isWanted && state in MIN_MS) this.#lookAt(connection.since + MIN_MS[state as Queue])
  }

  /** Forgets a connection that has ended. @internal */
  leave(connection: LimitedConnection): void {
    this.#all[connection.state].delete(connection)
  }

  /** Ends the timers. The connections themselves are not touched. */
  stop(): void {
    this.#isWanted = false
    clearTimeout(this.#looking)
    this.#pressure.stop()
  }

  /**
   * The number of free slots. Negative when visitors came on streams that were ready before all connections were
   * busy.
   */
  get #free(): number {
    const { beginning, idle, busy } = this.#all
    return this.#max - beginning.size - idle.size - busy.size
  }

  /**
   * Returns the connections to close for `count` more visitors, or as many as can be closed: the longest idle first, those that have
   * only begun last.
   */
  #candidates(count: number): LimitedConnection[] {
    const { leaving } = this.#all
    const missing = count - this.#free
    const max = Math.min(missing, this.#leavingMax - leaving.size + this.#due('leaving', missing).length)
    const idle = this.#due('idle', max)
    return [...idle, ...this.#due('beginning', max - idle.length)]
  }

  /** Returns up to `max` connections that have been in the state for long enough. */
  #due(state: Queue, max: number): LimitedConnection[] {
    const found: LimitedConnection[] = []
    const now = performance.now()
    for (const connection of this.#all[state]) {
      if (found.length >= max || connection.since + MIN_MS[state] > now) break
      found.push(connection)
    }
    return found
  }

  #close(connection: LimitedConnection): void {
    const [oldest] = this.#due('leaving', 1)
    if (oldest && this.#all.leaving.size >= this.#leavingMax) {
      this.move(oldest, 'cut')
      oldest.abort?.()
    }
    const isIdle = connection.state === 'idle'
    this.move(connection, 'leaving')
    if (isIdle) connection.close?.()
    else connection.abort?.()
    this.#closedForOthers += 1
    this.#pressure.closed()
  }

  /** Sets a timer for the moment at which the next connection may be closed. */
  #lookAtNext(): void {
    const now = performance.now()
    for (const state of QUEUES)
      for (const { since } of this.#all[state]) {
        const at = since + MIN_MS[state]
        if (at <= now) continue
        this.#lookAt(at)
        break
      }
  }

  #lookAt(time: number): void {
    if (time >= this.#looksAt) return
    clearTimeout(this.#looking)
    this.#looksAt = time
    this.#looking = setTimeout(() => this.#look(), Math.ceil(time - performance.now()))
  }

  #look(): void {
    this.#looksAt = Number.POSITIVE_INFINITY
    if (!this.#isWanted) return
    this.#isWanted = false
    this.#roomCame()
  }
}

/** A LimitedConnection is one visitor's connection, as the limiter knows it. */
export class LimitedConnection {
  /** @internal */
  state: State = 'beginning'
  /** The time at which it entered its state, by `performance.now()`. @internal */
  since: number = performance.now()
  /** Closes the connection gracefully, when nothing is in progress. */
  close: (() => void) | undefined
  /** Aborts the connection. */
  abort: (() => void) | undefined
  readonly #limiter: ConnectionLimiter

  constructor(connections: ConnectionLimiter) {
    this.#limiter = connections
  }

  /**
   * Sets the state of the connection. A request that arrives before the close is still answered, as the last one
   * there.
   */
  setActivity(activity: ConnectionActivity): void {
    const isGoing = this.state === 'cut' || (this.state === 'leaving' && activity !== 'busy')
    if (!isGoing && activity !== this.state) this.#limiter.move(this, activity)
  }

  ended(): void {
    this.#limiter.leave(this)
  }
}
