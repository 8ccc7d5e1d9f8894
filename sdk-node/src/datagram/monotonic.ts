// The clock by which datagrams are dated: the same in all threads, where `performance.now()` starts anew in each.

/** @returns milliseconds since some point in the past */
export function monotonic(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1e3 + nanoseconds / 1e6
}
