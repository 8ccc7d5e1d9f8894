// Answers with one file: whole, in part, or with 304 when the visitor already has it (RFC 9110 §13–§15).

import { evaluatePreconditions, ifRangeHolds, type Validators } from '../semantics/conditional-request.ts'
import { parseRange } from '../semantics/range.ts'
import { mediaType } from './media-type.ts'
import type { Representation } from './precompressed.ts'

export interface FileResponseOptions {
  /**
   * The disposition of the file: `attachment` makes browsers save it instead of showing it (RFC 6266).
   * @default none: the browser decides
   */
  disposition?: 'inline' | 'attachment' | undefined
  /**
   * The Cache-Control field. With `no-cache`, visitors store a file and revalidate it before each use.
   * @default no-cache
   */
  cacheControl?: string | undefined
}

/**
 * Returns the response with a file.
 * @param request a GET or HEAD
 */
export function fileResponse(
  { file, name, coding, varies }: Representation,
  request: Request,
  options: FileResponseOptions = {},
): Response {
  const validators = validatorsOf(file, coding)
  const headers = new Headers({
    'Accept-Ranges': 'bytes',
    'Cache-Control': options.cacheControl ?? 'no-cache',
    'Content-Type': mediaType(name, file.type),
    ETag: validators.etag,
    'Last-Modified': new Date(validators.modifiedSeconds * 1000).toUTCString(),
    'X-Content-Type-Options': 'nosniff',
  })
  if (coding) headers.set('Content-Encoding', coding)
  if (varies) headers.set('Vary', 'Accept-Encoding')
  if (options.disposition) headers.set('Content-Disposition', disposition(options.disposition, name))
  const status = evaluatePreconditions(request.headers, validators)
  if (status !== undefined) return withoutContent(status, headers)

  // Only GET has ranges (§14.2).
  const isGet = request.method === 'GET'
  const wanted = isGet && ifRangeHolds(request.headers, validators) ? request.headers.get('range') : null
  const range = parseRange(wanted, file.size)
  if (range === 'unsatisfiable') {
    headers.set('Content-Range', `bytes */${file.size}`)
    return withoutContent(416, headers)
  }
  const { start, end } = range ?? { start: 0, end: file.size }
  headers.set('Content-Length', String(end - start))
  if (range) headers.set('Content-Range', `bytes ${start}-${end - 1}/${file.size}`)
  return new Response(isGet ? file.slice(start, end) : null, { status: range ? 206 : 200, headers })
}

/**
 * The tag is strong: a File is a snapshot, which can no longer be read once the file has changed, and its time is in
 * milliseconds. It need not contain the name, because a tag is valid for one URL only.
 */
function validatorsOf({ size, lastModified }: File, coding: string | undefined): Validators {
  const etag = `"${size.toString(36)}-${lastModified.toString(36)}${coding ? `-${coding}` : ''}"`
  // A Last-Modified in the future is replaced by the current time (§8.8.2.1).
  return { etag, modifiedSeconds: Math.floor(Math.min(lastModified, Date.now()) / 1000) }
}

/** Removes the content's fields, which a 304 (§15.4.5) and a response without the file must not have. */
function withoutContent(status: number, headers: Headers): Response {
  for (const name of ['Content-Type', 'Content-Encoding', 'Content-Disposition']) headers.delete(name)
  return new Response(null, { status, headers })
}

/** Returns the field Content-Disposition. Encodes the name as ASCII for old clients, and in full (RFC 8187) for all others (RFC 6266 §4.3). */
export function disposition(type: string, name: string): string {
  const ascii = name.replace(/[^ -~]|["\\%]/g, '_')
  const extended = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16)}`,
  )
  return `${type}; filename="${ascii}"; filename*=UTF-8''${extended}`
}
