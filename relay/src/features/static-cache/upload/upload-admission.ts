// Admits uploads and checks: a few at once, and one of each identity. An upload ends early when its lease ends, when
// the policy no longer routes the lease, or when the site requests something else meanwhile.

import { PlainError, RelayError } from '../../../core/errors.ts'
import type { Lease } from '../../../core/lease/lease.ts'

/** Uploads of snapshots in progress at once, one of each identity. */
const CACHE_UPLOADS_MAX = 2
/** Manifests that are read and compared at once, one of each identity. */
const CACHE_CHECKS_MAX = 2
/**
 * `Retry-After` of a request to the static cache that is refused, because others are in progress or the cache is full.
 */
const CACHE_RETRY_S = 5

/** A request that occupies a place until it ends. */
export interface Place {
  /** Gives the place back; may be called more than once. */
  end(): void
}

export interface Upload extends Place {
  readonly lease: Lease
  /** Aborted with a RelayError as soon as the upload may no longer be published. */
  readonly signal: AbortSignal
}

export class UploadAdmission {
  readonly #checks = new Set<string>()
  readonly #uploads = new Map<string, AbortController>()

  /** @throws PlainError when others are under way */
  admitCheck(lease: Lease): Place {
    const key = lease.identityKey
    requireRoom(this.#checks, CACHE_CHECKS_MAX, key, 'check')
    this.#checks.add(key)
    return { end: once(() => this.#checks.delete(key)) }
  }

  /** @throws PlainError when others are under way */
  admitUpload(lease: Lease): Upload {
    const key = lease.identityKey
    requireRoom(this.#uploads, CACHE_UPLOADS_MAX, key, 'upload')
    const stop = new AbortController()
    this.#uploads.set(key, stop)
    const onEnd = (): void => stop.abort(new RelayError('lease_not_found', 'the lease has ended'))
    lease.ended.addEventListener('abort', onEnd, { once: true })
    const offBlock = lease.onBlock(() => stop.abort(notRouted()))
    const end = once(() => {
      this.#uploads.delete(key)
      lease.ended.removeEventListener('abort', onEnd)
      offBlock()
    })
    return { lease, signal: stop.signal, end }
  }

  isUploading(identityKey: string): boolean {
    return this.#uploads.has(identityKey)
  }

  /** Ends the upload of an identity, if there is one. @param why the reason, as a sentence */
  cancel(identityKey: string, why: string): void {
    this.#uploads.get(identityKey)?.abort(new RelayError('invalid_request', why))
  }

  /** Ends every upload. */
  close(): void {
    for (const upload of this.#uploads.values())
      upload.abort(new RelayError('feature_unavailable', 'this relay is closing'))
  }
}

export function notRouted(): RelayError {
  return new RelayError('lease_rejected', 'the policy lets no visitor reach this lease')
}

/** The answer to a site whose request has no room at the moment. */
export function busy(message: string): PlainError {
  return new PlainError('feature_unavailable', message, { 'Retry-After': `${CACHE_RETRY_S}` })
}

function requireRoom(
  open: { has(key: string): boolean; readonly size: number },
  max: number,
  key: string,
  what: string,
): void {
  if (open.has(key)) throw busy(`another ${what} of this site is under way`)
  if (open.size >= max) throw busy(`${max} ${what}s of other sites are under way`)
}

function once(work: () => void): () => void {
  let isDone = false
  return () => {
    if (isDone) return
    isDone = true
    work()
  }
}
