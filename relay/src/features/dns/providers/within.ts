// Bounds what a library does that takes no signal.

import { ApiError } from './api-error.ts'

/** @throws ApiError when the promise takes longer; the promise's own outcome is dropped then */
export async function within<T>(ms: number, promise: Promise<T>, what: string): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    late.reject(
      new ApiError('unavailable', `${what}: no answer within ${ms / 1000} s`, { isRetryable: true }),
    )
  }, ms)
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
