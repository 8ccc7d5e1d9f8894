// Timeouts, pauses and exponential backoff with web-standard timers, for the relay and the SDKs.

/** TIMER_MAX_MS is the longest delay of `setTimeout`, in milliseconds. With a longer one it fires at once. */
export const TIMER_MAX_MS: number = 2 ** 31 - 1

/**
 * Settles as `promise` does. After `ms` milliseconds it calls `onTimeout` and rejects with the returned error;
 * the promise's own outcome is then ignored.
 */
export async function withTimeout<T>(promise: Promise<T>, ms: number, onTimeout: () => Error): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(onTimeout()), ms)
  try {
    return await Promise.race([promise, timeout])
  } finally {
    clearTimeout(timer)
  }
}

/** Waits until `promise` settles, but no longer than `ms` milliseconds. Never rejects. */
export async function settledWithin(promise: Promise<unknown>, ms: number): Promise<void> {
  await withTimeout(promise, ms, () => new Error()).catch(() => {})
}

/** Settles as `promise` does, or rejects with the signal's reason when it aborts first. The underlying work continues. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await promise
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = (): void => reject(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([aborted, promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** Resolves after `ms` milliseconds, or when `signal` aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done, { once: true })
  })
}

/**
 * Returns the milliseconds to wait after a failure: `firstMs`, doubled with each failure, up to `maxMs`.
 * @param failures the number of previous failures in a row
 */
export function backoffMs(failures: number, firstMs: number, maxMs: number): number {
  return Math.min(firstMs * 2 ** failures, maxMs)
}

/** Returns a random time between half of `ms` and `ms`, so that those who failed together do not retry together. */
export function jittered(ms: number): number {
  return ms * (0.5 + Math.random() / 2)
}

/** Backoff counts failures in a row, and returns how long to wait after each. */
export class Backoff {
  readonly #firstMs: number
  readonly #maxMs: number
  #failures = 0

  /** The parameters are those of {@link backoffMs}, in milliseconds. */
  constructor(firstMs: number, maxMs: number) {
    this.#firstMs = firstMs
    this.#maxMs = maxMs
  }

  /** Counts a failure. @returns the milliseconds to wait after it */
  next(): number {
    return backoffMs(this.#failures++, this.#firstMs, this.#maxMs)
  }

  /** Resets the count, so that the next failure is the first. */
  reset(): void {
    this.#failures = 0
  }
}
