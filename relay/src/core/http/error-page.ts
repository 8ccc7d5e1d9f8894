// The page of an error: people in a browser see it, while programs get their line or JSON.

import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { DOCUMENT_STYLE, documentHtml, escapeHtml } from '@svc/protocol/documents'

const STYLE_HASH = createHash('sha256').update(DOCUMENT_STYLE).digest('base64')
const POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`

const TITLES: Readonly<Record<number, string>> = {
  400: 'The request cannot be read',
  401: 'This address is for programs',
  403: 'This address is for programs',
  404: 'There is no such page',
  405: 'This address is for programs',
  413: 'That is too much at once',
  414: 'The address is too long',
  421: 'This address does not belong here',
  429: 'These are too many requests',
  431: 'Your browser sent too much with the request',
  500: 'The relay could not answer',
  502: 'The site did not answer',
  503: 'This is not available now',
  504: 'The site did not answer in time',
}
/** Words that the title has already. */
const SAYS_NO_MORE = /^not found\s*$/i
const FOR_PROGRAMS = 'The pages for people begin at the first page.'
const NEXT: Readonly<Record<number, string>> = {
  400: 'Check the address, or begin at the first page.',
  401: FOR_PROGRAMS,
  403: FOR_PROGRAMS,
  404: 'Check the address. A site that is published here has an address of its own, which begins with its name.',
  405: FOR_PROGRAMS,
  414: 'Use a shorter address, or begin at the first page.',
  421: 'Check the address, and load the page again.',
  429: 'Wait a little, and try again.',
  431: 'Most of it is cookies. Delete those of this address in your browser, and load the page again.',
  500: 'Try again later. The operator of the relay finds the reason in its log.',
  502: 'Try again in a moment. If the site is yours: look at what published it.',
  503: 'Try again in a moment.',
  504: 'Try again in a moment. If the site is yours: look at what published it.',
}

/** Returns whether a browser will show the answer to a request as a page. */
export function isShown({ accept, 'sec-fetch-mode': mode }: IncomingHttpHeaders): boolean {
  return mode === undefined ? /text\/html/i.test(`${accept}`) : mode === 'navigate'
}

/** Returns the same of the beginning of a head that Node's parser refused. */
export function asksForPage(head: string): boolean {
  const [, accept] = /^accept:(.*)$/im.exec(head) ?? []
  const [, mode] = /^sec-fetch-mode:(.*)$/im.exec(head) ?? []
  return isShown({ accept, 'sec-fetch-mode': mode?.trim() })
}

export interface ErrorPage {
  headers: Record<string, string>
  body: string
}

/**
 * Makes the page of an error.
 * @param text what went wrong, in words
 * @param id of the request in the relay's log
 */
export function errorPage(status: number, text: string, id?: string): ErrorPage {
  const title = TITLES[status] ?? 'This did not work'
  const next = NEXT[status] ?? FOR_PROGRAMS
  const parts = [`<h1>${title}</h1>`]
  if (!SAYS_NO_MORE.test(text)) parts.push(`<p>${escapeHtml(sentence(text))}</p>`)
  parts.push(`<p>${next}</p>`)
  if (status === 500 && id !== undefined)
    parts.push(`<p class="quiet">The number of this request there is <code>${escapeHtml(id)}</code>.</p>`)
  parts.push('<p><a href="/">First page</a></p>')
  const body = documentHtml({ title, main: parts.join('\n') })
  const headers = {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': `${Buffer.byteLength(body)}`,
    'Content-Security-Policy': POLICY,
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    Vary: 'Accept, Sec-Fetch-Mode',
  }
  return { headers, body }
}

/** Returns words of a line for programs as a sentence: scripts get theirs as a comment. */
function sentence(text: string): string {
  const words = text.trim().replace(/^(?:#|\/\/) /, '')
  return words.charAt(0).toUpperCase() + words.slice(1) + (/[.!?]$/.test(words) ? '' : '.')
}
