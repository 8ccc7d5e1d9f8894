// Pauses between batches of a queue: functions that start one and return a function that cancels it. They do not keep the process alive.

/** Starts a pause that ends with `next`. @returns a function that cancels it */
type Pause = (next: () => void) => () => void

/** A pause of one event-loop turn, in which sockets are read. */
export const forATurn: Pause = (next) => {
  const immediate = setImmediate(next)
  return () => clearImmediate(immediate)
}

/** @returns a pause of `duration` milliseconds */
export function forMs(duration: number): Pause {
  return (next) => {
    const timer = setTimeout(next, duration).unref()
    return () => clearTimeout(timer)
  }
}
