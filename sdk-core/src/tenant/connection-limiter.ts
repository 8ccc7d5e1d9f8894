// Limits the connections of a site: when more visitors come than there may be, those that were idle longest are closed.

import type { ConnectionActivity } from '../exchange/http-options.ts'
import { BEGINNING_MIN_MS, IDLE_MIN_MS, LEAVING_MIN, LEAVING_MS, LEAVING_SHARE } from '../limits.ts'
import type { ConnectionStats } from './connection-stats.ts'
import type { PressureReporter } from './pressure-reporter.ts'

/** `leaving`: told to close, in favour of another one; `cut`: broken off, because that took long. */
type State = ConnectionActivity | 'leaving' | 'cut'

/** Those that may have to go: the first ones go first. */
const QUEUES = ['leaving', 'idle', 'beginning'] as const
type Queue = (typeof QUEUES)[number]
/** How long a connection has to be so before it may be closed, or broken off, for another one. */
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
  /** Each in the order in which they became so. */
  readonly #all: Readonly<Record<State, Set<LimitedConnection>>> = {
    beginning: new Set(),
    idle: new Set(),
    busy: new Set(),
    leaving: new Set(),
    cut: new Set(),
  }
  #closedForOthers = 0
  /** Room was asked for in vain: whoever asked is told when it may have come. */
  #isWanted = false
  #looksAt = Number.POSITIVE_INFINITY
  #looking: ReturnType<typeof setTimeout> | undefined

  /**
   * @param max connections at once; those that are being closed for others come on top, up to a share of that
   * @param roomCame called when there may be room, after {@link hasRoomFor} said that there is none
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

  /** Whether so many more may come: there are places, or connections that can be closed for them. */
  hasRoomFor(count: number): boolean {
    const hasRoom = this.#candidates(count).length >= count - this.#free
    // Nobody waits in vain for a place as long as one visitor can come.
    if (hasRoom || count === 1) this.#pressure.full(!hasRoom)
    if (!hasRoom) {
      this.#isWanted = true
      this.#lookAtNext()
    }
    return hasRoom
  }

  /** A visitor came. Where there is no place for it, those that have been idle longest are closed. */
  admit(): LimitedConnection {
    const connection = new LimitedConnection(this)
    this.#all.beginning.add(connection)
    for (const other of this.#candidates(0)) this.#close(other)
    return connection
  }

  /** @internal */
  move(connection: LimitedConnection, state: State): void {
    this.leave(connection)
    connection.state = state
    connection.since = performance.now()
    this.#all[state].add(connection)
    if (this.#isWanted && state in MIN_MS) this.#lookAt(connection.since + MIN_MS[state as Queue])
  }

  /** Nothing of it is left. @internal */
  leave(connection: LimitedConnection): void {
    this.#all[connection.state].delete(connection)
  }

  /** Ends what waits; the connections themselves are not touched. */
  stop(): void {
    this.#isWanted = false
    clearTimeout(this.#looking)
    this.#pressure.stop()
  }

  /** Negative when visitors came on streams that were ready before all connections were busy. */
  get #free(): number {
    const { beginning, idle, busy } = this.#all
    return this.#max - beginning.size - idle.size - busy.size
  }

  /** Those who go for `count` more, or as many of them as can: the longest idle one first, what has only begun last. */
  #candidates(count: number): LimitedConnection[] {
    const { leaving } = this.#all
    const missing = count - this.#free
    const max = Math.min(missing, this.#leavingMax - leaving.size + this.#due('leaving', missing).length)
    const idle = this.#due('idle', max)
    return [...idle, ...this.#due('beginning', max - idle.length)]
  }

  /** Up to `max` that have been so for long enough. */
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

  /** When the next one of those that there are may go. */
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

/** One of them. */
export class LimitedConnection {
  /** @internal */
  state: State = 'beginning'
  /** By `performance.now()`. @internal */
  since: number = performance.now()
  /** Closes it in order: nothing is on its way. */
  close: (() => void) | undefined
  /** Breaks it off. */
  abort: (() => void) | undefined
  readonly #limiter: ConnectionLimiter

  constructor(connections: ConnectionLimiter) {
    this.#limiter = connections
  }

  /** A request that comes before its connection was closed is answered, as the last one there. */
  setActivity(activity: ConnectionActivity): void {
    const isGoing = this.state === 'cut' || (this.state === 'leaving' && activity !== 'busy')
    if (!isGoing && activity !== this.state) this.#limiter.move(this, activity)
  }

  ended(): void {
    this.#limiter.leave(this)
  }
}
