// Sends responses in the envelope: `{ok, data}` or `{ok, error}`.

import type { ServerResponse } from 'node:http'
import { type Envelope, HEADER } from '@svc/protocol'
import { PlainError, type RelayError } from '../../errors.ts'
import { errorPage, isShown } from '../../http/error-page.ts'

export const JSON_HEADERS = {
  'Content-Type': 'application/json',
  'X-Content-Type-Options': 'nosniff',
} as const

export function sendData(response: ServerResponse, data: unknown, status = 200): void {
  sendJson(response, status, { ok: true, data } satisfies Envelope<unknown>)
}

/** Sends an error: people in a browser get a page. */
export function sendError(response: ServerResponse, error: RelayError): void {
  if (isShown(response.req.headers)) sendPage(response, error.status, error.message, error.headers)
  else if (error instanceof PlainError) sendText(response, error.status, `${error.message}\n`, error.headers)
  else sendJson(response, error.status, failure(error), error.headers)
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    ...JSON_HEADERS,
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    ...headers,
  })
  response.end(text)
}

/** Sends an error as a plain text without the envelope: people in a browser get a page. */
export function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Record<string, string> = {},
): void {
  if (isShown(response.req.headers)) {
    sendPage(response, status, text, headers)
    return
  }
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    ...headers,
  })
  response.end(text)
}

function sendPage(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Record<string, string>,
): void {
  const id = response.getHeader(HEADER.requestId)
  const page = errorPage(status, text, id === undefined ? undefined : `${id}`)
  response.writeHead(status, { ...headers, ...page.headers })
  response.end(page.body)
}

export function failure(error: RelayError): Envelope<never> {
  return { ok: false, error: { code: error.code, message: error.message } }
}
