// Bounds the time of a library call that takes no AbortSignal.

import { withTimeout } from '@svc/protocol/timers'
import { ApiError } from './api-error.ts'

/** @throws ApiError when the promise takes longer; the promise's own outcome is dropped then */
export function within<T>(ms: number, promise: Promise<T>, what: string): Promise<T> {
  return withTimeout(promise, ms, () => {
    const message = `${what}: no answer within ${ms / 1000} s`
    return new ApiError('unavailable', message, { isRetryable: true })
  })
}
