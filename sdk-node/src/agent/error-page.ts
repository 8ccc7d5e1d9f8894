// The page of an error of a control server: for people in a browser, while programs get JSON.

import type { IncomingMessage } from 'node:http'
import { documentHtml, escapeHtml } from '@svc/protocol/documents'
import { isNavigation } from '@svc/sdk-core'
import type { AgentError } from './errors.ts'

const TITLES: Readonly<Record<number, string>> = {
  403: 'This came from another page',
  404: 'There is no such page',
  421: 'This is not the address of the agent',
  500: 'This did not work',
}
const FOR_PROGRAMS = 'This address is for programs'
const NEXT: Readonly<Record<number, string>> = {
  403: 'Type the address of the page, or open the one that svc prints.',
  421: 'Use the address that svc prints: it begins with http://127.0.0.1 or http://localhost.',
  500: 'Try again, and look at what svc prints.',
}
const TO_PAGE = 'The page for people is the first one of this address.'

/** The fields of the page that are not those of every answer: its style is its own. */
export const ERROR_PAGE_FIELDS: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Content-Type': 'text/html; charset=utf-8',
  Vary: 'Accept, Sec-Fetch-Mode',
}

/** Returns the page, or undefined for a program. */
export function errorPage(
  { headers }: IncomingMessage,
  { status, message }: Pick<AgentError, 'status' | 'message'>,
): string | undefined {
  const asked = new Headers()
  for (const name of ['accept', 'sec-fetch-mode']) if (headers[name]) asked.set(name, `${headers[name]}`)
  if (!isNavigation({ headers: asked })) return undefined
  const title = TITLES[status] ?? FOR_PROGRAMS
  const main = `<h1>${title}</h1>
<p>${escapeHtml(message.charAt(0).toUpperCase() + message.slice(1))}.</p>
<p>${NEXT[status] ?? TO_PAGE}</p>
<p><a href="/">First page</a></p>`
  return documentHtml({ title, main })
}
