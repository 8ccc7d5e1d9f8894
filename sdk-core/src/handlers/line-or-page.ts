// An answer that says one thing: a document to a person in a browser, a line of text to a program.

import { documentHtml, escapeHtml } from '@svc/protocol/documents'
import type { Field } from '../semantics/fields.ts'
import { documentAnswer } from './document-answer.ts'
import { isNavigation } from './sessions/origin-checks.ts'

/** @param text without a line break */
export function lineOrPage(
  request: Request,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const fields = { Vary: 'Accept, Sec-Fetch-Mode', ...headers }
  if (!isNavigation(request)) return new Response(`${text}\n`, { status, headers: fields })
  return documentAnswer(status, { title: text, main: mainOf(text, new URL(request.url).host) }, fields)
}

/** A LineOrPage is the content of such an answer, and the fields that say what it is. */
export interface LineOrPage {
  content: string
  fields: Field[]
}

/** Returns the content for a request that is no Request. @param text without a line break */
export function lineOrPageContent(
  text: string,
  { url, fields: asked }: { url: URL; fields: readonly Field[] },
): LineOrPage {
  const headers = new Headers(
    asked.filter(([name]) => DECISIVE.test(name)).map(([name, value]) => [name, value]),
  )
  const vary: Field = ['vary', 'Accept, Sec-Fetch-Mode']
  if (!isNavigation({ headers }))
    return { content: `${text}\n`, fields: [['content-type', 'text/plain;charset=UTF-8'], vary] }
  const fields: Field[] = [
    ['content-type', 'text/html; charset=utf-8'],
    ['content-security-policy', POLICY],
    ['x-content-type-options', 'nosniff'],
    vary,
  ]
  return { content: documentHtml({ title: text, main: mainOf(text, url.host) }), fields }
}

/** The fields that say whether a browser will show the answer. */
const DECISIVE = /^(?:accept|sec-fetch-mode)$/i
/** The page has no text but the SDK's, so that its style needs no nonce. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

function mainOf(text: string, host: string): string {
  return `<h1>${escapeHtml(text)}</h1>\n<p><a href="/">${escapeHtml(host)}</a></p>`
}
