// The time by which the relay keeps its word. It begins with the wall clock and then goes on by the monotonic one, so that
// no step of the wall clock makes a lease, token, challenge or binding live longer or shorter.

import { WALL_CLOCK_STEP_MS } from './limits.ts'

const NS_PER_MS = 1e6

/** Relay time when the machine's monotonic clock was 0. */
let origin = Math.round(Date.now() - monotonic())
/** How far the wall clock is ahead of relay time. */
let ahead = 0

/** Relay time: whole milliseconds since the epoch, as the wall clock would have them if nobody had set it since the start. */
export function now(): number {
  return Math.floor(origin + monotonic())
}

/** What the wall clock shows at a moment of relay time, as it is set now: for everything that others get to see. */
export function toWallTime(time: number): number {
  return time + wallClockAhead()
}

/** The moment of relay time at which the wall clock, as it is set now, shows this. */
export function fromWallTime(time: number): number {
  return time - wallClockAhead()
}

/** Milliseconds. Stays the same until the wall clock is set, so that what is told of one moment stays the same, too. */
export function wallClockAhead(): number {
  const difference = Date.now() - now()
  if (Math.abs(difference - ahead) > WALL_CLOCK_STEP_MS) ahead = difference
  return ahead
}

/** What {@link setClockOrigin} takes in another process of this relay, so that all have one relay time. */
export function clockOrigin(): number {
  return origin
}

export function setClockOrigin(milliseconds: number): void {
  origin = milliseconds
}

/** Of the machine, not of the process: `performance.now()` begins anew in each. */
function monotonic(): number {
  return Number(process.hrtime.bigint()) / NS_PER_MS
}
