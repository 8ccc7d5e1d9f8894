// Sends responses in the envelope: `{ok, data}` or `{ok, error}`.

import type { ServerResponse } from 'node:http'
import type { Envelope } from '@svc/protocol'
import { PlainError, type RelayError } from '../../errors.ts'

export const JSON_HEADERS = {
  'Content-Type': 'application/json',
  'X-Content-Type-Options': 'nosniff',
} as const

export function sendData(response: ServerResponse, data: unknown, status = 200): void {
  sendJson(response, status, { ok: true, data } satisfies Envelope<unknown>)
}

export function sendError(response: ServerResponse, error: RelayError): void {
  if (error instanceof PlainError) sendText(response, error.status, `${error.message}\n`, error.headers)
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

/** Sends a plain text without the envelope. */
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
