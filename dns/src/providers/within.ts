// Bounds the time of a library call that takes no AbortSignal.

import { ApiError } from './api-error.ts'

/** @throws ApiError when the promise takes longer; the promise's own outcome is dropped then */
export async function within<T>(ms: number, promise: Promise<T>, what: string): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    const message = `${what}: no answer within ${ms / 1000} s`
    reject(new ApiError('unavailable', message, { isRetryable: true }))
  }, ms)
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
