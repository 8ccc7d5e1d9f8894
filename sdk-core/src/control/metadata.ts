// Finds out whether a relay accepts the metadata. If not, it loads the code that leaves out some of it.

import { type LeaseMetadata, METADATA_THUMBNAIL_MAX_CHARS } from '@svc/protocol'
import type { SvcError } from '../errors.ts'
import { loadLazy } from './load-lazy.ts'
import { type Accepted, type Attempt, isRefusal } from './metadata-attempt.ts'

/**
 * Calls `attempt` with all of `metadata`, then without the thumbnail, then only with whether the site is listed.
 * @returns the outcome of the first attempt that the relay accepted
 * @throws SvcError the relay's first refusal, when its reason was not the metadata, or when the code cannot be loaded, as in a
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
 * A thumbnail that is too large is not sent: a connection that ends in the middle of a large body gives no
 * reason.
 */
function hasFittingThumbnail(metadata: LeaseMetadata | undefined): boolean {
  return (metadata?.thumbnail?.length ?? 0) <= METADATA_THUMBNAIL_MAX_CHARS
}
