// What a site tells of itself, and what of it is left when a relay does not take all: a site without a picture is better
// than none.

import { type LeaseMetadata, METADATA_THUMBNAIL_MAX_CHARS } from '@svc/protocol'
import { SvcError, type SvcErrorCode } from '../errors.ts'

/** What a relay may say of metadata that is too much for it. */
const REFUSALS: ReadonlySet<SvcErrorCode> = new Set<SvcErrorCode>(['invalid_request', 'feature_unavailable'])

export interface Accepted<T> {
  result: T
  metadata: LeaseMetadata | undefined
  /** `metadata_refused`, when it is less than was asked for. */
  refusal: SvcError | undefined
}

/**
 * Asks with all of `metadata`, then without the picture, then with nothing but whether the site is hidden.
 * @returns what came of the first that the relay took
 * @throws the relay's first refusal, when metadata was not the reason of it
 */
export async function withAcceptedMetadata<T>(
  metadata: LeaseMetadata | undefined,
  attempt: (metadata: LeaseMetadata | undefined) => Promise<T>,
): Promise<Accepted<T>> {
  let reason = tooLarge(metadata)
  for (const part of reason ? lesser(metadata) : [metadata, ...lesser(metadata)]) {
    try {
      const result = await attempt(part)
      return { result, metadata: part, refusal: reason && refused(metadata, part, reason) }
    } catch (error) {
      if (!(error instanceof SvcError && REFUSALS.has(error.code))) throw error
      reason ??= error
    }
  }
  throw reason
}

/** Whether a site is hidden is not for the relay to choose. */
function lesser(metadata: LeaseMetadata | undefined): LeaseMetadata[] {
  if (metadata === undefined) return []
  const { thumbnail, hide, ...texts } = metadata
  const bare = hide === undefined ? {} : { hide }
  const hasTexts = Object.values(texts).some((text) => text !== undefined)
  return [...(thumbnail === undefined ? [] : [{ ...texts, ...bare }]), ...(hasTexts ? [bare] : [])]
}

/** Such a picture is not worth the way: a connection that ends in the middle of a large body gives no reason. */
function tooLarge(metadata: LeaseMetadata | undefined): SvcError | undefined {
  const length = metadata?.thumbnail?.length ?? 0
  if (length <= METADATA_THUMBNAIL_MAX_CHARS) return undefined
  return new SvcError(
    'invalid_request',
    `a thumbnail has at most ${METADATA_THUMBNAIL_MAX_CHARS} characters, not ${length}`,
  )
}

function refused(
  wanted: LeaseMetadata | undefined,
  taken: LeaseMetadata | undefined,
  reason: SvcError,
): SvcError {
  const missing = Object.keys(wanted ?? {}).filter((field) => !Object.hasOwn(taken ?? {}, field))
  const message = `the site is published without its ${missing.join(', ')}: ${reason.message}`
  return new SvcError('metadata_refused', message, { cause: reason })
}
