// The answers that rules give themselves.

import { documentHtml, escapeHtml } from '@svc/protocol/documents'
import type { DirectResponse } from '../exchange/direct.ts'
import type { Field } from '../semantics/fields.ts'
import type { OwnAnswer } from './own-answer.ts'
import type { Maintenance } from './parse.ts'

const PLAIN: Field = ['content-type', 'text/plain; charset=utf-8']
const NOT_STORED: Field = ['cache-control', 'no-store']

export const BAD_PATH: OwnAnswer = {
  status: 400,
  fields: [PLAIN, NOT_STORED],
  text: 'The path may mean too many things\n',
}
export const TOO_LARGE: OwnAnswer = {
  status: 413,
  fields: [PLAIN, NOT_STORED],
  text: 'The content of the request is too large\n',
}
export const TIMED_OUT: OwnAnswer = {
  status: 504,
  fields: [PLAIN, NOT_STORED],
  text: 'The site did not answer in time\n',
}
export const PREFLIGHT: OwnAnswer = { status: 204, fields: [], text: '' }

export function redirectTo(status: number, { href }: URL): OwnAnswer {
  return { status, fields: [['location', href]], text: '' }
}

/** @param accepted the field Accept of the request: people get a page, programs a line of text */
export function maintenancePage({ text, retryAfter }: Maintenance, accepted = ''): OwnAnswer {
  const isPage = /text\/html/i.test(accepted)
  const fields: Field[] = [
    isPage ? ['content-type', 'text/html; charset=utf-8'] : PLAIN,
    ['retry-after', String(retryAfter)],
    NOT_STORED,
    ['vary', 'Accept'],
    ['x-content-type-options', 'nosniff'],
  ]
  if (!isPage) return { status: 503, fields, text: `${text}\n` }
  const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
  return { status: 503, fields: [...fields, ['content-security-policy', policy]], text: pageOf(text) }
}

function pageOf(text: string): string {
  const main = `<h1>Maintenance</h1>\n<p class="lines">${escapeHtml(text)}</p>`
  return documentHtml({ title: 'Maintenance', main, style: '.lines{white-space:pre-line}' })
}

/** Makes a Response. */
export function toResponse({ status, fields, text }: OwnAnswer): Response {
  const headers = new Headers()
  for (const [name, value] of fields) headers.append(name, value)
  return new Response(text.length > 0 ? (text as BodyInit) : null, { status, headers })
}

/** Makes the response of a direct path. */
export function toDirect({ status, fields, text }: OwnAnswer): DirectResponse {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text
  const content = { pieces: [bytes], size: bytes.length, done: true }
  return {
    status,
    statusText: '',
    fields: [...fields],
    length: bytes.length,
    ready: () => content,
    next: async () => content,
    cancel: () => {},
  }
}
