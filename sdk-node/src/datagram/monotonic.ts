// A monotonic clock that all threads share, unlike `performance.now()`.

/** @returns milliseconds since some point in the past */
export function monotonic(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1e3 + nanoseconds / 1e6
}
