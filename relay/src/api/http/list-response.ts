// Answers with a page of a list: compressed for clients that take it, and 304 to those that have it already.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { type BodyWriter, piecesOf } from './body-writer.ts'
import { takesCoding } from './content-coding.ts'
import { isKnown } from './entity-tag.ts'
import { JSON_HEADERS } from './envelope.ts'
import type { CachedList } from './list-cache.ts'

const NOT_MODIFIED = 304

/**
 * @param page is released when it is sent
 * @param isKept whether clients may keep it, and ask whether it is still that (RFC 9110 §13)
 */
export async function sendList(
  writer: BodyWriter,
  request: IncomingMessage,
  response: ServerResponse,
  page: CachedList,
  isKept: boolean,
): Promise<void> {
  try {
    const { 'if-none-match': known, 'accept-encoding': accepted } = request.headers
    const common = { 'Cache-Control': isKept ? 'no-cache' : 'no-store', Vary: 'Accept-Encoding' }
    const isTaken = takesCoding(`${accepted ?? ''}`, 'gzip')
    const same = [page.tag, ...(isTaken ? [page.gzipTag] : [])].find((tag) => isKept && isKnown(known, tag))
    if (same !== undefined) {
      response.writeHead(NOT_MODIFIED, { ...common, ETag: same }).end()
      return
    }
    const compressed = isTaken ? await page.gzip() : undefined
    const body = compressed ?? page.body
    const headers = {
      ...JSON_HEADERS,
      ...common,
      ...(isKept && { ETag: compressed ? page.gzipTag : page.tag }),
      ...(compressed && { 'Content-Encoding': 'gzip' }),
      'Content-Length': `${body.length}`,
    }
    await writer.send(request, response, { status: 200, headers, size: body.length, pieces: piecesOf(body) })
  } finally {
    page.release()
  }
}
