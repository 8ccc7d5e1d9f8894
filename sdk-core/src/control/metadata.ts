// Finds out whether a relay takes the metadata. The code that leaves some of it out is loaded when a relay does not.

import { type LeaseMetadata, METADATA_THUMBNAIL_MAX_CHARS } from '@svc/protocol'
import type { SvcError } from '../errors.ts'
import { loadLazy } from './load-lazy.ts'
import { type Accepted, type Attempt, isRefusal } from './metadata-attempt.ts'

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
