// Leaves out the metadata that a relay does not accept: a site without a thumbnail is better than none.

import { type LeaseMetadata, METADATA_THUMBNAIL_MAX_CHARS } from '@svc/protocol'
import { SvcError } from '../errors.ts'
import { type Accepted, type Attempt, isRefusal } from './metadata-attempt.ts'

/**
 * Calls `attempt` without the thumbnail, then only with whether the site is listed.
 * @param refusal the relay's error for all of `metadata`; undefined when the thumbnail is too large to send
 */
export async function withLessMetadata<T>(
  metadata: LeaseMetadata,
  refusal: SvcError | undefined,
  attempt: Attempt<T>,
): Promise<Accepted<T>> {
  const reason = refusal ?? tooLarge(metadata)
  for (const part of lesser(metadata)) {
    try {
      const result = await attempt(part)
      return { result, metadata: part, refusal: refused(metadata, part, reason) }
    } catch (error) {
      if (!isRefusal(error)) throw error
    }
  }
  throw reason
}

/** Returns the smaller metadata to try next. It always keeps `hide`, which the relay must not decide. */
function lesser({ thumbnail, hide, ...texts }: LeaseMetadata): LeaseMetadata[] {
  const bare = hide === undefined ? {} : { hide }
  const hasTexts = Object.values(texts).some((text) => text !== undefined)
  return [...(thumbnail === undefined ? [] : [{ ...texts, ...bare }]), ...(hasTexts ? [bare] : [])]
}

function tooLarge({ thumbnail }: LeaseMetadata): SvcError {
  const message = `a thumbnail has at most ${METADATA_THUMBNAIL_MAX_CHARS} characters, not ${thumbnail?.length}`
  return new SvcError('invalid_request', message)
}

function refused(wanted: LeaseMetadata, taken: LeaseMetadata, reason: SvcError): SvcError {
  const missing = Object.keys(wanted).filter((field) => !Object.hasOwn(taken, field))
  const message = `the site is published without its ${missing.join(', ')}: ${reason.message}`
  return new SvcError('metadata_refused', message, { cause: reason })
}
