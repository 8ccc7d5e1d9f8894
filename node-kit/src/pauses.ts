// The pauses between two batches of a queue, as functions that begin one and return what ends it. They keep no process.

/** Begins a pause that ends with `next`. @returns a function that ends it without `next` */
type Pause = (next: () => void) => () => void

/** A pause until sockets were read. */
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
