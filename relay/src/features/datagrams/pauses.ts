// The pauses between two batches of a queue of datagrams.

import type { Pause } from '@svc/protocol'

/** A pause until sockets were read. */
export const forATurn: Pause = (next) => {
  const immediate = setImmediate(next)
  return () => clearImmediate(immediate)
}

/** @returns a pause of this many milliseconds */
export function forMs(duration: number): Pause {
  return (next) => {
    const timer = setTimeout(next, duration)
    return () => clearTimeout(timer)
  }
}
