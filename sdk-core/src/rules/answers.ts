// The answers that rules give themselves.

import { documentHtml, escapeHtml } from '@svc/protocol/documents'
import type { DirectResponse } from '../exchange/direct.ts'
import { isShown, lineOrPageContent } from '../handlers/line-or-page.ts'
import type { Field } from '../semantics/fields.ts'
import type { OwnAnswer } from './own-answer.ts'
import type { Maintenance } from './parse.ts'

const PLAIN: Field = ['content-type', 'text/plain; charset=utf-8']
const NOT_STORED: Field = ['cache-control', 'no-store']

/** A RuleRefusal is an answer that says which rule a request or its handler broke. */
export interface RuleRefusal {
  status: number
  text: string
}

export const BAD_PATH: RuleRefusal = { status: 400, text: 'The path may mean too many things' }
export const TOO_LARGE: RuleRefusal = { status: 413, text: 'The content of the request is too large' }
export const TIMED_OUT: RuleRefusal = { status: 504, text: 'The site did not answer in time' }
export const PREFLIGHT: OwnAnswer = { status: 204, fields: [], text: '' }

export function redirectTo(status: number, { href }: URL): OwnAnswer {
  return { status, fields: [['location', href]], text: '' }
}

/** What says whether a browser shows the answer: then it is a page, and otherwise a line of text. */
export interface Asking {
  readonly url: URL
  /** Returns the value of a field. */
  field(name: string): string | undefined
}

/** Makes the answer to a request that a rule refuses. */
export function refusalTo(asked: Asking, { status, text }: RuleRefusal): OwnAnswer {
  const { content, fields } = lineOrPageContent(text, { url: asked.url, fields: decisive(asked) }, status)
  return { status, fields, text: content }
}

function decisive({ field }: Asking): Field[] {
  return ['accept', 'sec-fetch-mode'].flatMap((name) => {
    const value = field(name)
    return value === undefined ? [] : [[name, value] as const]
  })
}

export function maintenancePage({ text, retryAfter }: Maintenance, asked: Asking): OwnAnswer {
  const isPage = isShown(decisive(asked))
  const fields: Field[] = [
    isPage ? ['content-type', 'text/html; charset=utf-8'] : PLAIN,
    ['retry-after', String(retryAfter)],
    NOT_STORED,
    ['vary', 'Accept, Sec-Fetch-Mode'],
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
