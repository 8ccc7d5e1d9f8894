// How answers look: `{ok, data}` or `{ok, error}`, never cached unless they carry an ETag.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Envelope } from '@svc/protocol'
import type { RelayError } from '../errors.ts'
import { entityTag, isKnown } from './entity-tag.ts'

export function sendData(response: ServerResponse, data: unknown, status = 200): void {
  sendJson(response, status, { ok: true, data } satisfies Envelope<unknown>)
}

const NOT_MODIFIED = 304

/** What the client may keep. It is asked for often and changes seldom: then 304, without a body, says so. */
export function sendKept(request: IncomingMessage, response: ServerResponse, data: unknown): void {
  const text = JSON.stringify({ ok: true, data } satisfies Envelope<unknown>)
  const tag = entityTag(text)
  const headers = { ETag: tag, 'Cache-Control': 'no-cache' }
  if (isKnown(request.headers['if-none-match'], tag)) response.writeHead(NOT_MODIFIED, headers).end()
  else sendJsonText(response, 200, text, headers)
}

export function sendError(response: ServerResponse, error: RelayError): void {
  sendJson(response, error.status, failure(error), error.headers)
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  sendJsonText(response, status, JSON.stringify(body), headers)
}

function sendJsonText(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Record<string, string>,
): void {
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...headers,
  })
  response.end(text)
}

/** Outside the envelope. */
export function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    ...headers,
  })
  response.end(text)
}

export function failure(error: RelayError): Envelope<never> {
  return { ok: false, error: { code: error.code, message: error.message } }
}
