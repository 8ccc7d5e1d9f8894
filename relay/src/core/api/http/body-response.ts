// Sends a body that is in memory with its entity tag, or 304 when the client has it (RFC 9110 §13).

import type { IncomingMessage, ServerResponse } from 'node:http'
import { entityTag, isKnown } from '../../http/entity-tag.ts'
import { type BodyWriter, piecesOf } from './body-writer.ts'
import type { FileHeaders } from './file-response.ts'

const OK = 200
const NOT_MODIFIED = 304

/** @throws the errors of {@link BodyWriter.send} */
export async function sendBody(
  writer: BodyWriter,
  request: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  { content, common }: FileHeaders,
): Promise<void> {
  const tag = entityTag(body)
  const always = { ...common, ETag: tag }
  if (isKnown(request.headers['if-none-match'], tag)) {
    response.writeHead(NOT_MODIFIED, always).end()
    return
  }
  const headers = { ...always, ...content, 'Content-Length': `${body.length}` }
  await writer.send(request, response, { status: OK, headers, size: body.length, pieces: piecesOf(body) })
}
