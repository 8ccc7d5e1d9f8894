// A page of a sign-in: it loads nothing, and runs only its own script.

import { documentHtml, type HtmlDocument } from '@svc/protocol/documents'
import { toBase64 } from '../../bytes/base64.ts'
import { UNCACHED } from './answers.ts'
import { PAGE_STYLE } from './page-style.ts'

const NONCE_BYTES = 16

interface Page extends Pick<HtmlDocument, 'title' | 'main' | 'mainAttributes'> {
  script?: string
}

/** Returns the answer with the page, whose form, if it has one, can be sent to its own origin alone. */
export function pageAnswer(
  status: number,
  { script, ...page }: Page,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const nonce = toBase64(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)))
  const form = page.main.includes('<form ') ? "'self'" : "'none'"
  const html = documentHtml({
    ...page,
    style: PAGE_STYLE,
    styleAttributes: ` nonce="${nonce}"`,
    after: script === undefined ? '' : `<script nonce="${nonce}">${script}</script>\n`,
  })
  const fields = {
    ...UNCACHED,
    'Content-Security-Policy': `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; img-src data:; connect-src 'self'; base-uri 'none'; form-action ${form}; frame-ancestors 'none'`,
    'Content-Type': 'text/html; charset=utf-8',
    'Referrer-Policy': 'same-origin',
    ...headers,
  }
  return new Response(html, { status, headers: fields })
}
