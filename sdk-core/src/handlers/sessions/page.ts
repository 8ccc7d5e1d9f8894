// A page of a sign-in: it loads nothing, and runs only its own script.

import { toBase64 } from '../../bytes/base64.ts'
import { escapeHtml } from '../escape-html.ts'
import { UNCACHED } from './answers.ts'
import { PAGE_STYLE } from './page-style.ts'

const NONCE_BYTES = 16

interface Page {
  title: string
  /** The element `main`, as HTML. */
  main: string
  script?: string
}

/** Returns the answer with the page, whose form, if it has one, can be sent to its own origin alone. */
export function pageAnswer(
  status: number,
  { title, main, script }: Page,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const nonce = toBase64(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)))
  const form = main.includes('<form ') ? "'self'" : "'none'"
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<link rel="icon" href="data:,">
<title>${escapeHtml(title)}</title>
<style nonce="${nonce}">${PAGE_STYLE}</style>
</head>
<body>
${main}
${script === undefined ? '' : `<script nonce="${nonce}">${script}</script>`}
</body>
</html>
`
  const fields = {
    ...UNCACHED,
    'Content-Security-Policy': `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; img-src data:; connect-src 'self'; base-uri 'none'; form-action ${form}; frame-ancestors 'none'`,
    'Content-Type': 'text/html; charset=utf-8',
    'Referrer-Policy': 'same-origin',
    ...headers,
  }
  return new Response(html, { status, headers: fields })
}
