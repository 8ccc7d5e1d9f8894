// Sends a page of a list: compressed for clients that accept that, and 304 to clients that have the page.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { takesCoding } from '../../http/content-coding.ts'
import { isKnown } from '../../http/entity-tag.ts'
import { type BodyWriter, piecesOf } from './body-writer.ts'
import { JSON_HEADERS } from './envelope.ts'
import type { CachedList } from './list-cache.ts'

const NOT_MODIFIED = 304

/**
 * @param page released after it is sent
 * @param isCacheable whether clients may cache and revalidate the page (RFC 9110 §13)
 */
export async function sendList(
  writer: BodyWriter,
  request: IncomingMessage,
  response: ServerResponse,
  page: CachedList,
  isCacheable: boolean,
): Promise<void> {
  try {
    const { 'if-none-match': known, 'accept-encoding': accepted } = request.headers
    const common = { 'Cache-Control': isCacheable ? 'no-cache' : 'no-store', Vary: 'Accept-Encoding' }
    const isTaken = takesCoding(`${accepted ?? ''}`, 'gzip')
    const same = [page.tag, ...(isTaken ? [page.gzipTag] : [])].find(
      (tag) => isCacheable && isKnown(known, tag),
    )
    if (same !== undefined) {
      response.writeHead(NOT_MODIFIED, { ...common, ETag: same }).end()
      return
    }
    const compressed = isTaken ? await page.gzip() : undefined
    const body = compressed ?? page.body
    const headers = {
      ...JSON_HEADERS,
      ...common,
      ...(isCacheable && { ETag: compressed ? page.gzipTag : page.tag }),
      ...(compressed && { 'Content-Encoding': 'gzip' }),
      'Content-Length': `${body.length}`,
    }
    await writer.send(request, response, { status: 200, headers, size: body.length, pieces: piecesOf(body) })
  } finally {
    page.release()
  }
}
