// One attempt to send metadata to a relay: its outcome, and whether a refusal may be about the metadata.

import type { LeaseMetadata } from '@svc/protocol'
import { SvcError } from '../errors.ts'

/** The outcome of an attempt that the relay accepted. */
export interface Accepted<T> {
  result: T
  metadata: LeaseMetadata | undefined
  /** `metadata_refused`, when the relay accepted only part of the metadata. */
  refusal?: SvcError | undefined
}

/** An Attempt sends a request with all or part of the metadata. */
export type Attempt<T> = (metadata: LeaseMetadata | undefined) => Promise<T>

/**
 * Returns whether a relay may have refused because of the metadata. A relay that asks to wait (`Retry-After`) did
 * not.
 */
export function isRefusal(error: unknown): error is SvcError {
  if (!(error instanceof SvcError) || error.retryAfterMs !== undefined) return false
  return error.code === 'invalid_request' || error.code === 'feature_unavailable'
}
