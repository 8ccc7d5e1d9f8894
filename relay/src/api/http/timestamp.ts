// Formats times for responses.

import { toWallTime } from '../../clock.ts'

/** RFC 3339 by the wall clock. @param time relay time */
export function timestamp(time: number): string {
  return new Date(toWallTime(time)).toISOString()
}
