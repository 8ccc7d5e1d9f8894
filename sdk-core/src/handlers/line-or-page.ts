// An answer that says one thing: a document to a person in a browser, a line of text to a program.

import { documentHtml, escapeHtml } from '@svc/protocol/documents'
import type { Field } from '../semantics/fields.ts'
import { documentAnswer } from './document-answer.ts'
import { nextStep } from './next-step.ts'
import { isNavigation } from './sessions/origin-checks.ts'

/**
 * @param text without a line break
 * @param next what the visitor or the owner can do; by default what helps with such a status
 */
export function lineOrPage(
  request: Request,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
  next: string = nextStep(status),
): Response {
  const fields = { 'Cache-Control': 'no-store', Vary: 'Accept, Sec-Fetch-Mode', ...headers }
  if (!isNavigation(request)) return new Response(`${text}\n`, { status, headers: fields })
  const main = mainOf({ text, next, host: new URL(request.url).host })
  return documentAnswer(status, { title: text, main }, fields)
}

/** A LineOrPage is the content of such an answer, and the fields that say what it is. */
export interface LineOrPage {
  content: string
  fields: Field[]
}

/** Returns the content for a request that is no Request. @param text without a line break */
export function lineOrPageContent(
  text: string,
  { url, fields }: { url: Pick<URL, 'host'>; fields: readonly Field[] },
  status: number,
): LineOrPage {
  if (isShown(fields)) return pageContent({ text, next: nextStep(status), host: url.host })
  return { content: `${text}\n`, fields: [['content-type', 'text/plain;charset=UTF-8'], VARY, NOT_STORED] }
}

/** Returns whether a browser will show the answer to a request with these fields as a page. */
export function isShown(fields: readonly Field[]): boolean {
  const decisive = fields.filter(([name]) => DECISIVE.test(name))
  return isNavigation({ headers: new Headers(decisive.map(([name, value]) => [name, value])) })
}

/** What a page says. */
interface Said {
  /** Its title, without a line break. */
  text: string
  next: string
  /** The site's host, to which the page leads back; undefined when that is not known. */
  host: string | undefined
}

/** Returns a page, whatever asked for it. */
export function pageContent(said: Said): LineOrPage {
  const fields: Field[] = [
    ['content-type', 'text/html; charset=utf-8'],
    ['content-security-policy', POLICY],
    ['referrer-policy', 'same-origin'],
    ['x-content-type-options', 'nosniff'],
    VARY,
    NOT_STORED,
  ]
  return { content: documentHtml({ title: said.text, main: mainOf(said) }), fields }
}

const VARY: Field = ['vary', 'Accept, Sec-Fetch-Mode']
const NOT_STORED: Field = ['cache-control', 'no-store']
/** The fields that say whether a browser will show the answer. */
const DECISIVE = /^(?:accept|sec-fetch-mode)$/i
/** The page has no text but the SDK's, so that its style needs no nonce. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

function mainOf({ text, next, host }: Said): string {
  const parts = [`<h1>${escapeHtml(text)}</h1>`]
  if (next !== '') parts.push(`<p>${escapeHtml(next)}</p>`)
  if (host !== undefined) parts.push(`<p><a href="/">${escapeHtml(host)}</a></p>`)
  return parts.join('\n')
}
