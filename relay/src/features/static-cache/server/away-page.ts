// Says that a site is away: the page for people, and plain text for programs.

import { createHash } from 'node:crypto'
import { DOCUMENT_STYLE, documentHtml } from '@svc/protocol/documents'
import type { VisitorRequest } from '../live-site/live-sites.ts'
import { AWAY_RETRY_AFTER_S } from './limits.ts'

export interface AwayAnswer {
  status: number
  headers: Record<string, string>
  body: string
}

const NOT_FOUND = 404
const SERVICE_UNAVAILABLE = 503
const HTML = /(?:^|,)\s*(?:text\/html|application\/xhtml\+xml)\s*(?:,|;(?!\s*q=0(?:\.0*)?\s*(?:,|$))|$)/i

const TITLE = 'This site is away'
const EXPLANATION =
  'The page or the program that serves this site is not connected at the moment. The relay has some of its files, and serves those alone.'
const NOT_STORED = 'What you asked for is not one of them. It may be there when the site comes back.'
const NOT_DELIVERED =
  'Your request was not delivered to the site, and nothing of it was kept. Send it again when the site is back.'

const STYLE_HASH = createHash('sha256').update(DOCUMENT_STYLE).digest('base64')

const HEADERS: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  'Cache-Status': 'svc-relay; fwd=miss',
  'X-Content-Type-Options': 'nosniff',
}
const HTML_HEADERS: Readonly<Record<string, string>> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'Referrer-Policy': 'no-referrer',
}

/** The answer to a request that only the site itself could have answered. */
export function awayAnswer({
  method,
  headers: asked,
}: Pick<VisitorRequest, 'method' | 'headers'>): AwayAnswer {
  const isRead = method === 'GET' || method === 'HEAD'
  const last = isRead ? NOT_STORED : NOT_DELIVERED
  const isHtml = HTML.test(asked.accept ?? '')
  return {
    status: isRead ? NOT_FOUND : SERVICE_UNAVAILABLE,
    headers: {
      ...HEADERS,
      Vary: 'Accept',
      ...(isHtml ? HTML_HEADERS : { 'Content-Type': 'text/plain; charset=utf-8' }),
      ...(!isRead && { 'Retry-After': `${AWAY_RETRY_AFTER_S}` }),
    },
    body: isHtml ? page(last) : `${TITLE}.\n\n${EXPLANATION}\n\n${last}\n`,
  }
}

function page(last: string): string {
  const main = `<h1>${TITLE}</h1>
<p>${EXPLANATION}</p>
<p>${last}</p>`
  return documentHtml({ title: TITLE, main, icon: '' })
}
