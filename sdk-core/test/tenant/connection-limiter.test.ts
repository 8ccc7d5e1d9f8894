// Which connections are closed when more visitors come than there may be, and what is told of it.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ConnectionActivity } from '../../src/exchange/http-options.ts'
import {
  BEGINNING_MIN_MS,
  ConnectionLimiter,
  IDLE_MIN_MS,
  LEAVING_MIN,
  LEAVING_MS,
  type LimitedConnection,
} from '../../src/tenant/connection-limiter.ts'
import {
  FULL_TOLD_AFTER_MS,
  PRESSURE_INTERVAL_MS,
  PressureReporter,
} from '../../src/tenant/pressure-reporter.ts'

const MAX = 4
const tell = vi.fn()
const roomCame = vi.fn()
let connections: ConnectionLimiter
/** Names of connections in the order in which they were told to close. */
let closed: string[]

beforeEach(() => {
  vi.useFakeTimers()
  vi.clearAllMocks()
  closed = []
  connections = new ConnectionLimiter(MAX, new PressureReporter(tell), roomCame)
})
afterEach(() => {
  connections.stop()
  vi.useRealTimers()
})

function enter(name: string, activity: ConnectionActivity = 'beginning'): LimitedConnection {
  const connection = connections.admit()
  connection.close = () => closed.push(name)
  connection.abort = () => closed.push(`${name}, cut`)
  connection.setActivity(activity)
  return connection
}

/** As many as there may be, a to d, each a second younger than the one before. */
function crowd(...activities: ConnectionActivity[]): LimitedConnection[] {
  return activities.map((activity, at) => {
    vi.advanceTimersByTime(1000)
    return enter('abcd'[at]!, activity)
  })
}

describe('a visitor beyond the bound', () => {
  it('makes the one go that has been idle longest', () => {
    const [a, b] = crowd('idle', 'idle', 'busy', 'idle')
    vi.advanceTimersByTime(1000)
    a!.setActivity('busy')
    a!.setActivity('idle')
    vi.advanceTimersByTime(1000)
    enter('e')
    expect(closed).toEqual(['b'])
    b!.ended()
    expect(connections.stats).toEqual({ open: MAX, idle: 2, max: MAX, closedForOthers: 1 })
    enter('f')
    expect(closed).toEqual(['b', 'd'])
  })

  it('never makes a busy one go', () => {
    crowd('busy', 'busy', 'busy', 'busy')
    vi.advanceTimersByTime(3_600_000)
    enter('e')
    expect(closed).toEqual([])
    expect(connections.hasRoomFor(1)).toBe(false)
  })

  it('finds one that has just become idle on its way to the next request', () => {
    const [a] = crowd('busy', 'busy', 'busy', 'busy')
    a!.setActivity('idle')
    vi.advanceTimersByTime(IDLE_MIN_MS - 1)
    expect(connections.hasRoomFor(1)).toBe(false)
    vi.advanceTimersByTime(1)
    expect(connections.hasRoomFor(1)).toBe(true)
  })

  it('breaks off what has begun nothing whole for long, behind all that are idle', () => {
    crowd('beginning', 'idle', 'busy', 'busy')
    vi.advanceTimersByTime(BEGINNING_MIN_MS)
    enter('e', 'busy')
    expect(closed).toEqual(['b'])
    enter('f', 'busy')
    expect(closed).toEqual(['b', 'a, cut'])
  })

  it('leaves what has begun lately alone', () => {
    crowd('beginning', 'busy', 'busy', 'busy')
    expect(connections.hasRoomFor(1)).toBe(false)
    vi.advanceTimersByTime(BEGINNING_MIN_MS - 3_001)
    expect(connections.hasRoomFor(1)).toBe(false)
    vi.advanceTimersByTime(1)
    expect(connections.hasRoomFor(1)).toBe(true)
  })

  it('does not break off one whose next request came before it was closed', () => {
    connections = new ConnectionLimiter(8, new PressureReporter(tell), roomCame)
    const idle = Array.from({ length: 8 }, (_, at) => enter(`${at}`, 'idle'))
    vi.advanceTimersByTime(IDLE_MIN_MS)
    for (let count = 0; count < 8; count++) enter('more', 'idle')
    expect(closed).toHaveLength(8)
    idle[0]!.setActivity('beginning')
    idle[0]!.setActivity('busy')
    vi.advanceTimersByTime(LEAVING_MS)
    for (let count = 0; count < 8; count++) if (connections.hasRoomFor(1)) enter('yet more', 'busy')
    expect(closed.filter((name) => name.endsWith('cut'))).toHaveLength(7)
    expect(closed).not.toContain('0, cut')
  })

  it('makes one go only once, also when that takes its time', () => {
    const [a] = crowd('idle', 'busy', 'busy', 'busy')
    vi.advanceTimersByTime(1000)
    enter('e', 'busy')
    expect(closed).toEqual(['a'])
    a!.setActivity('beginning')
    a!.setActivity('idle')
    vi.advanceTimersByTime(10_000)
    expect(connections.hasRoomFor(1)).toBe(false)
    enter('f', 'busy')
    expect(closed).toEqual(['a'])
  })

  it('finds none who could go while as many are being closed as may be, until these may be broken off', () => {
    connections = new ConnectionLimiter(100, new PressureReporter(tell), roomCame)
    for (let count = 0; count < 100; count++) enter(`${count}`, 'idle')
    vi.advanceTimersByTime(1000)
    for (let count = 0; count < 12; count++) {
      expect(connections.hasRoomFor(1)).toBe(true)
      enter('more', 'busy')
    }
    expect(closed).toHaveLength(Math.max(LEAVING_MIN, 100 / 8 - 0.5))
    expect(connections.hasRoomFor(1)).toBe(false)
    expect(connections.stats).toMatchObject({ open: 112, idle: 88 })
    vi.advanceTimersByTime(LEAVING_MS - 1)
    expect(connections.hasRoomFor(1)).toBe(false)
    expect(roomCame).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(roomCame).toHaveBeenCalledOnce()
    expect([connections.hasRoomFor(12), connections.hasRoomFor(13)]).toEqual([true, false])
    enter('more', 'busy')
    expect(closed.slice(12)).toEqual(['0, cut', '12'])
  })
})

describe('room', () => {
  it('is what is free and what can go', () => {
    crowd('idle', 'idle', 'busy')
    vi.advanceTimersByTime(1000)
    expect([1, 2, 3, 4].map((count) => connections.hasRoomFor(count))).toEqual([true, true, true, false])
  })

  it('that was asked for in vain is told of when it may have come', () => {
    const [a] = crowd('busy', 'busy', 'busy', 'busy')
    expect(connections.hasRoomFor(1)).toBe(false)
    a!.setActivity('idle')
    vi.advanceTimersByTime(IDLE_MIN_MS - 1)
    expect(roomCame).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(roomCame).toHaveBeenCalledOnce()
    expect(connections.hasRoomFor(1)).toBe(true)
    vi.advanceTimersByTime(60_000)
    expect(roomCame).toHaveBeenCalledOnce()
  })

  it('is told of as soon as it comes, also where another connection would have made it later', () => {
    const [a] = crowd('busy', 'busy', 'busy', 'beginning')
    expect(connections.hasRoomFor(1)).toBe(false)
    a!.setActivity('idle')
    vi.advanceTimersByTime(IDLE_MIN_MS)
    expect(roomCame).toHaveBeenCalledOnce()
  })

  it('nobody asked for is not told of', () => {
    const [a] = crowd('busy', 'busy', 'busy', 'busy')
    a!.setActivity('idle')
    vi.advanceTimersByTime(60_000)
    expect(roomCame).not.toHaveBeenCalled()
  })

  it('is made again for those who came beyond the bound, once there are idle ones', () => {
    const [a, b] = crowd('busy', 'busy', 'busy', 'busy')
    enter('e', 'busy')
    a!.setActivity('idle')
    b!.setActivity('idle')
    vi.advanceTimersByTime(IDLE_MIN_MS)
    expect([connections.hasRoomFor(1), connections.hasRoomFor(2)]).toEqual([true, false])
    enter('f', 'busy')
    expect(closed).toEqual(['a', 'b'])
  })
})

describe('pressure', () => {
  it('is told when connections were closed for others, once a second at most, and with all of them', () => {
    connections = new ConnectionLimiter(40, new PressureReporter(tell), roomCame)
    for (let count = 0; count < 40; count++) enter(`${count}`, 'idle')
    vi.advanceTimersByTime(IDLE_MIN_MS)
    enter('e')
    expect(tell).not.toHaveBeenCalled()
    vi.advanceTimersByTime(0)
    expect(tell.mock.calls).toEqual([[1, false]])
    for (let count = 0; count < 3; count++) enter('more')
    vi.advanceTimersByTime(PRESSURE_INTERVAL_MS - 1)
    expect(tell).toHaveBeenCalledOnce()
    vi.advanceTimersByTime(1)
    expect(tell.mock.calls).toEqual([
      [1, false],
      [3, false],
    ])
    vi.advanceTimersByTime(60_000)
    expect(tell).toHaveBeenCalledTimes(2)
  })

  it('is told when none could be closed, once each time', () => {
    const [a] = crowd('busy', 'busy', 'busy', 'busy')
    expect(connections.hasRoomFor(1)).toBe(false)
    vi.advanceTimersByTime(FULL_TOLD_AFTER_MS - 1)
    expect(tell).not.toHaveBeenCalled()
    vi.advanceTimersByTime(60_000)
    expect(tell.mock.calls).toEqual([[0, true]])
    a!.setActivity('idle')
    vi.advanceTimersByTime(IDLE_MIN_MS)
    expect(connections.hasRoomFor(1)).toBe(true)
    a!.setActivity('busy')
    expect(connections.hasRoomFor(1)).toBe(false)
    vi.advanceTimersByTime(60_000)
    expect(tell).toHaveBeenCalledTimes(2)
  })

  it('that lasts a moment only is not told, nor is a second visitor too many', () => {
    const [a] = crowd('busy', 'busy', 'busy', 'busy')
    expect(connections.hasRoomFor(1)).toBe(false)
    a!.ended()
    expect([connections.hasRoomFor(1), connections.hasRoomFor(2)]).toEqual([true, false])
    vi.advanceTimersByTime(60_000)
    expect(tell).not.toHaveBeenCalled()
  })
})
