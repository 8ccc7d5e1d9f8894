// A representation of a stored file (RFC 9110 §3.2): as the site uploaded it, or compressed. Its header fields are made once.

import { type ContentCoding, takesCoding } from '../../../core/http/content-coding.ts'
import { mediaTypeOf } from '../../../core/http/media-type.ts'
import type { SnapshotFile, StoredCoding } from '../snapshot.ts'
import { ACCEPTED_CODINGS_MAX, ACCEPTED_CODINGS_MAX_CHARS } from './limits.ts'

export interface Representation {
  readonly file: SnapshotFile
  readonly coding: StoredCoding | undefined
  /** Bytes. */
  readonly size: number
  /** The strong entity tag, which no other representation of any file has (RFC 9110 §8.8.3). */
  readonly tag: string
  /** Fields of every response, 304 included: alternating names and values. */
  readonly common: readonly string[]
  /** Fields of responses with the content or a part of it, without its length. */
  readonly content: readonly string[]
  /** Fields of the response with the whole content. */
  readonly whole: string[]
}

type Made = Partial<Record<StoredCoding | 'identity', Representation>>

/** The best first. */
const CODINGS: readonly StoredCoding[] = ['br', 'gzip']
/** Shows that the relay answered, and not the site (RFC 9211 §2). */
const CACHE_STATUS: readonly string[] = ['Cache-Status', 'svc-relay; hit']

const made = new WeakMap<SnapshotFile, Made>()
/** The codings that a value of `Accept-Encoding` accepts. */
const accepted = new Map<string, readonly ContentCoding[]>()

/** The file as the site uploaded it. */
export function uploaded(file: SnapshotFile): Representation {
  return representationOf(file, undefined)
}

/** The smallest form that the visitor accepts. */
export function negotiated(file: SnapshotFile, acceptEncoding: string | undefined): Representation {
  const { codings } = file
  if (codings.size === 0 || acceptEncoding === undefined) return uploaded(file)
  const coding = codingsIn(acceptEncoding).find((one) => codings.has(one))
  return representationOf(file, coding)
}

function representationOf(file: SnapshotFile, coding: StoredCoding | undefined): Representation {
  const form = coding ?? 'identity'
  const known = made.get(file)?.[form]
  if (known !== undefined) return known
  const representation = make(file, coding)
  made.set(file, { ...made.get(file), [form]: representation })
  return representation
}

function make(file: SnapshotFile, coding: StoredCoding | undefined): Representation {
  const size = coding === undefined ? file.size : (file.codings.get(coding) ?? 0)
  const hash = Buffer.from(file.sha256, 'hex').toString('base64url')
  const tag = coding === undefined ? `"${hash}"` : `"${hash}-${coding}"`
  const common = ['ETag', tag, 'Cache-Control', 'no-cache', 'Vary', 'Accept-Encoding', ...CACHE_STATUS]
  const content = [
    ...common,
    ...['Content-Type', mediaTypeOf(file.path)],
    ...(coding === undefined ? [] : ['Content-Encoding', coding]),
    ...['Accept-Ranges', 'bytes', 'X-Content-Type-Options', 'nosniff'],
  ]
  return { file, coding, size, tag, common, content, whole: [...content, 'Content-Length', `${size}`] }
}

function codingsIn(acceptEncoding: string): readonly ContentCoding[] {
  const known = accepted.get(acceptEncoding)
  if (known !== undefined) return known
  const codings = CODINGS.filter((coding) => takesCoding(acceptEncoding, coding))
  if (accepted.size < ACCEPTED_CODINGS_MAX && acceptEncoding.length <= ACCEPTED_CODINGS_MAX_CHARS)
    accepted.set(acceptEncoding, codings)
  return codings
}
