// Tries a change at a provider again, with growing pauses.

import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from './api-error.ts'
import { ATTEMPTS_MAX, FIRST_PAUSE_MS, PAUSE_MAX_MS } from './limits.ts'
import { DnsProviderError } from './provider-error.ts'

/**
 * Runs `attempt` until it succeeds or fails for good, at most `ATTEMPTS_MAX` times. Each attempt must read the records
 * again, since an earlier one whose answer was lost may have succeeded.
 * @param firstPauseMs before the second attempt @default FIRST_PAUSE_MS
 * @throws the last error
 */
export async function retrying<T>(
  attempt: () => Promise<T>,
  signal: AbortSignal,
  firstPauseMs: number = FIRST_PAUSE_MS,
): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt()
    } catch (error) {
      const pauseMs = pauseAfter(error, attempts, firstPauseMs)
      if (pauseMs === undefined || signal.aborted) throw error
      await sleep(pauseMs, undefined, { signal }).catch(() => {
        throw error
      })
    }
  }
}

/** @returns undefined when another attempt is useless, or is left to the caller */
function pauseAfter(error: unknown, attempts: number, firstPauseMs: number): number | undefined {
  if (!(error instanceof ApiError) || !error.isRetryable || attempts >= ATTEMPTS_MAX) return undefined
  const growing = firstPauseMs * 2 ** (attempts - 1)
  // With jitter, so that callers that were refused together do not retry together.
  const pauseMs = Math.max(error.retryAfterMs ?? 0, growing * (0.75 + Math.random() / 2))
  return pauseMs <= PAUSE_MAX_MS ? pauseMs : undefined
}

/** Converts any error to a DnsProviderError. */
export function asProviderError(error: unknown): DnsProviderError {
  if (error instanceof DnsProviderError) return error
  const message = error instanceof Error ? error.message : String(error)
  return new DnsProviderError('unavailable', message, { cause: error })
}
