// Tells relay time. It starts at the wall clock and continues by the monotonic clock, so that no step of the wall clock
// makes a lease, token, challenge or binding live longer or shorter.

/** Difference between wall clock and monotonic clock that means that the wall clock was set: NTP slews both alike. */
const WALL_CLOCK_STEP_MS = 1_000

const NS_PER_MS = 1e6

/** Relay time when the machine's monotonic clock was 0. */
let origin = Math.round(Date.now() - monotonic())
/** Milliseconds by which the wall clock is ahead of relay time. */
let ahead = 0

/** Relay time: whole milliseconds since the epoch, as shown by a wall clock that nobody has set since the start. */
export function now(): number {
  return Math.floor(origin + monotonic())
}

/** Converts relay time to the wall clock, as it is set now. Everything that clients see is wall time. */
export function toWallTime(time: number): number {
  return time + wallClockAhead()
}

/** Converts the wall clock's time, as it is set now, to relay time. */
export function fromWallTime(time: number): number {
  return time - wallClockAhead()
}

/** Milliseconds. The value changes only when the wall clock is set, so that one moment always converts to the same time. */
export function wallClockAhead(): number {
  const difference = Date.now() - now()
  const wasSet = Math.abs(difference - ahead) > WALL_CLOCK_STEP_MS
  // A wall clock that was set back to the right time is not ahead by the millisecond of rounding.
  if (wasSet) ahead = Math.abs(difference) > WALL_CLOCK_STEP_MS ? difference : 0
  return ahead
}

/** The value for {@link setClockOrigin} in another process of this relay, so that all processes have one relay time. */
export function clockOrigin(): number {
  return origin
}

export function setClockOrigin(milliseconds: number): void {
  origin = milliseconds
}

/** Milliseconds of the machine's clock, the same in all its processes. `performance.now()` would start at 0 in each process. */
export function monotonic(): number {
  return Number(process.hrtime.bigint()) / NS_PER_MS
}
