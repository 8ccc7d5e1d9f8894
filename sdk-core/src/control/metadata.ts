// Leaves out the metadata that a relay does not take: a site without a picture is better than none.

import { type LeaseMetadata, METADATA_THUMBNAIL_MAX_CHARS } from '@svc/protocol'
import { SvcError, type SvcErrorCode } from '../errors.ts'

/** With these codes a relay may refuse metadata that is too much for it. */
const REFUSALS: ReadonlySet<SvcErrorCode> = new Set<SvcErrorCode>(['invalid_request', 'feature_unavailable'])

export interface Accepted<T> {
  result: T
  metadata: LeaseMetadata | undefined
  /** `metadata_refused`, when the relay took less than all of the metadata. */
  refusal: SvcError | undefined
}

/**
 * Calls `attempt` with all of `metadata`, then without the picture, then only with whether the site is hidden.
 * @returns the outcome of the first attempt that the relay took
 * @throws SvcError the relay's first refusal, when metadata was not its reason
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
      if (!(error instanceof SvcError && isRefusal(error))) throw error
      reason ??= error
    }
  }
  throw reason
}

/** A relay that asks to wait (`Retry-After`) does not refuse the metadata. */
function isRefusal({ code, retryAfterMs }: SvcError): boolean {
  return REFUSALS.has(code) && retryAfterMs === undefined
}

/** The smaller metadata to try next. They always keep `hide`, which is not for the relay to choose. */
function lesser(metadata: LeaseMetadata | undefined): LeaseMetadata[] {
  if (metadata === undefined) return []
  const { thumbnail, hide, ...texts } = metadata
  const bare = hide === undefined ? {} : { hide }
  const hasTexts = Object.values(texts).some((text) => text !== undefined)
  return [...(thumbnail === undefined ? [] : [{ ...texts, ...bare }]), ...(hasTexts ? [bare] : [])]
}

/**
 * The error for a picture that is not worth sending: a connection that ends in the middle of a large body gives no
 * reason.
 */
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
