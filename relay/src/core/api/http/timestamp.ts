// Formats times for responses.

import { toWallTime } from '../../clock.ts'

/** RFC 3339 by the wall clock. @param time relay time */
export function timestamp(time: number): string {
  return wallTimestamp(toWallTime(time))
}

/** RFC 3339. @param time wall clock, milliseconds since the epoch */
export function wallTimestamp(time: number): string {
  return new Date(time).toISOString()
}
