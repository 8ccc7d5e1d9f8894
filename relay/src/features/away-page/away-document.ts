// The away page: one answer for every request, without scripts.

import { createHash } from 'node:crypto'
import { PATH } from '@svc/protocol'
import { DOCUMENT_STYLE, documentHtml } from '@svc/protocol/documents'
import { AWAY_RETRY_S } from './limits.ts'

const STYLE_HASH = createHash('sha256').update(DOCUMENT_STYLE).digest('base64')
const POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`

/**
 * Makes the whole answer, in HTTP/1.1.
 * @param label first label of the site's hostname
 * @param origin of the relay, whose page waits for the site
 */
export function awayAnswer(label: string, origin: string, hasBody: boolean): string {
  const body = awayDocument(label, origin)
  const head = [
    'HTTP/1.1 503 Service Unavailable',
    'Content-Type: text/html; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Content-Security-Policy: ${POLICY}`,
    'Cache-Control: no-store',
    'Referrer-Policy: no-referrer',
    `Retry-After: ${AWAY_RETRY_S}`,
    'X-Content-Type-Options: nosniff',
    'Connection: close',
  ]
  return `${head.join('\r\n')}\r\n\r\n${hasBody ? body : ''}`
}

function awayDocument(label: string, origin: string): string {
  const title = `${label} is not here right now`
  return documentHtml({
    title,
    home: `${origin}/`,
    main: `<h1>${title}</h1>
<p>The relay shows this page while the site is closed.</p>
<p><a class="action" href="${origin}${PATH.go}${label}">Wait for the site</a></p>`,
  })
}
