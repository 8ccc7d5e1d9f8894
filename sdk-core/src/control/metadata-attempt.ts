// One attempt to have a relay take metadata: what comes of it, and whether a refusal may be about the metadata.

import type { LeaseMetadata } from '@svc/protocol'
import { SvcError } from '../errors.ts'

/** What a relay took. */
export interface Accepted<T> {
  result: T
  metadata: LeaseMetadata | undefined
  /** `metadata_refused`, when the relay took less than all of the metadata. */
  refusal?: SvcError | undefined
}

/** An Attempt asks the relay for something, with `metadata` or with a part of it. */
export type Attempt<T> = (metadata: LeaseMetadata | undefined) => Promise<T>

/**
 * Says whether a relay may have refused metadata that is too much for it. One that asks to wait (`Retry-After`) did
 * not.
 */
export function isRefusal(error: unknown): error is SvcError {
  if (!(error instanceof SvcError) || error.retryAfterMs !== undefined) return false
  return error.code === 'invalid_request' || error.code === 'feature_unavailable'
}
