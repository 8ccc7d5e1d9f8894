// Finds out whether a relay takes the metadata. The code that leaves some of it out is loaded when a relay does not.

import { type LeaseMetadata, METADATA_THUMBNAIL_MAX_CHARS } from '@svc/protocol'
import { SvcError } from '../errors.ts'

export interface Accepted<T> {
  result: T
  metadata: LeaseMetadata | undefined
  /** `metadata_refused`, when the relay took less than all of the metadata. */
  refusal?: SvcError | undefined
}

/** Loads the code of the control plane that most pages never need. Rejects where none can be loaded, as in a service worker. */
export const loadLazy = (): Promise<typeof import('./lazy.ts')> => import('./lazy.ts')

/** An Attempt asks the relay for something, with `metadata` or with a part of it. */
export type Attempt<T> = (metadata: LeaseMetadata | undefined) => Promise<T>

/**
 * Calls `attempt` with all of `metadata`, then without the picture, then only with whether the site is listed.
 * @returns the outcome of the first attempt that the relay took
 * @throws SvcError the relay's first refusal, when metadata was not its reason, and where the code cannot be loaded, as in a
 *   service worker
 */
export async function withAcceptedMetadata<T>(
  metadata: LeaseMetadata | undefined,
  attempt: Attempt<T>,
): Promise<Accepted<T>> {
  let reason: SvcError | undefined
  try {
    if (hasFittingThumbnail(metadata)) return { result: await attempt(metadata), metadata }
  } catch (error) {
    if (!metadata || !isRefusal(error)) throw error
    reason = error
  }
  const late = await loadLazy().catch((cause) => {
    throw reason ?? cause
  })
  return late.withLessMetadata(metadata!, reason, attempt)
}

/**
 * A picture that is too large is not worth sending: a connection that ends in the middle of a large body gives no
 * reason.
 */
function hasFittingThumbnail(metadata: LeaseMetadata | undefined): boolean {
  return (metadata?.thumbnail?.length ?? 0) <= METADATA_THUMBNAIL_MAX_CHARS
}

/**
 * Says whether a relay may have refused metadata that is too much for it. One that asks to wait (`Retry-After`) did
 * not.
 */
export function isRefusal(error: unknown): error is SvcError {
  if (!(error instanceof SvcError) || error.retryAfterMs !== undefined) return false
  return error.code === 'invalid_request' || error.code === 'feature_unavailable'
}
