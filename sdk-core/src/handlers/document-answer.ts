// A document as the answer to a visitor: it loads nothing, and runs only its own script.

import { DOCUMENT_STYLE, documentHtml, type HtmlDocument } from '@svc/protocol/documents'
import { toBase64 } from '../bytes/base64.ts'

const NONCE_BYTES = 16

/** An AnsweredDocument is a document, and what its Content-Security-Policy depends on. */
export interface AnsweredDocument extends Pick<HtmlDocument, 'title' | 'main' | 'mainAttributes' | 'style'> {
  script?: string
  /** Whether it shows images of its own origin. */
  hasImages?: boolean
  /** The source of its style, from {@link styleSource}: such a document is the same each time. A nonce by default. */
  styleSource?: string
}

/** Resolves with the source expression of the style of a document (CSP 3, §2.3.1). @param style what the document has of its own */
export async function styleSource(style: string): Promise<string> {
  const bytes = new TextEncoder().encode(DOCUMENT_STYLE + style)
  return `'sha256-${toBase64(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)))}'`
}

/** Returns the answer with the document, whose form, if it has one, can be sent to its own origin alone. */
export function documentAnswer(
  status: number,
  { script, hasImages = false, styleSource, ...document }: AnsweredDocument,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const nonce = toBase64(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)))
  const form = document.main.includes('<form ') ? "'self'" : "'none'"
  const code = script === undefined ? '' : ` script-src 'nonce-${nonce}'; connect-src 'self';`
  const images = hasImages ? "'self' data:" : 'data:'
  const html = documentHtml({
    ...document,
    styleAttributes: styleSource === undefined ? ` nonce="${nonce}"` : '',
    after: script === undefined ? '' : `<script nonce="${nonce}">${script}</script>\n`,
  })
  const fields = {
    'Content-Security-Policy': `default-src 'none';${code} style-src ${styleSource ?? `'nonce-${nonce}'`}; img-src ${images}; base-uri 'none'; form-action ${form}; frame-ancestors 'none'`,
    'Content-Type': 'text/html; charset=utf-8',
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    ...headers,
  }
  return new Response(html, { status, headers: fields })
}
