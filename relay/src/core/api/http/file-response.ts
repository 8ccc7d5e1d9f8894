// Sends a file, a range of it, or 304 when the client has it (RFC 9110 §13, §14).

import type { IncomingMessage, ServerResponse } from 'node:http'
import { isKnown } from '../../http/entity-tag.ts'
import { readRange } from '../../http/range.ts'
import type { BodyWriter } from './body-writer.ts'
import { readPieces, type StoredFile } from './stored-file.ts'

const OK = 200
const PARTIAL_CONTENT = 206
const NOT_MODIFIED = 304
const RANGE_NOT_SATISFIABLE = 416

export interface FileHeaders {
  /** Headers of responses with content. */
  content: Record<string, string>
  /** Headers of every response, 304 included. */
  common: Record<string, string>
}

/** @throws Error when the file cannot be read, and the errors of {@link BodyWriter.send} */
export async function sendFile(
  writer: BodyWriter,
  request: IncomingMessage,
  response: ServerResponse,
  file: StoredFile,
  { content, common }: FileHeaders,
): Promise<void> {
  // A strong tag, so that clients never combine ranges of different versions (§8.8.1).
  const tag = `"${file.version}"`
  const always = { ...common, ETag: tag, 'Last-Modified': file.modified.toUTCString() }
  if (isUnchanged(request, file, tag)) {
    response.writeHead(NOT_MODIFIED, always).end()
    return
  }
  const isWhole = request.method !== 'GET' || !isRangeOf(request, file, tag)
  const range = isWhole ? undefined : readRange(request.headers.range, file.size)
  if (range === 'invalid') {
    const headers = { 'Content-Range': `bytes */${file.size}`, 'Content-Length': '0' }
    response.writeHead(RANGE_NOT_SATISFIABLE, headers).end()
    return
  }
  const { start, end } = range ?? { start: 0, end: file.size - 1 }
  const headers = {
    ...always,
    ...content,
    'Accept-Ranges': 'bytes',
    'Content-Length': `${end + 1 - start}`,
    ...(range !== undefined && { 'Content-Range': `bytes ${start}-${end}/${file.size}` }),
  }
  await writer.send(request, response, {
    status: range === undefined ? OK : PARTIAL_CONTENT,
    headers,
    size: end + 1 - start,
    pieces: readPieces(file, { start, end }),
  })
}

/** §13.2.2: If-Modified-Since counts only without If-None-Match. */
function isUnchanged({ headers }: IncomingMessage, file: StoredFile, tag: string): boolean {
  const tags = headers['if-none-match']
  if (tags !== undefined) return isKnown(tags, tag)
  const since = headers['if-modified-since']
  return since !== undefined && seconds(file.modified) <= seconds(new Date(since))
}

/** §13.1.5: whether the requested range is of this version. */
function isRangeOf({ headers }: IncomingMessage, file: StoredFile, tag: string): boolean {
  const condition = headers['if-range']
  if (condition === undefined || condition === tag) return true
  return seconds(new Date(`${condition}`)) === seconds(file.modified)
}

/** Whole seconds, the precision of an HTTP date. */
function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1000)
}
