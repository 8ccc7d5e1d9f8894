// A page for visitors, in one response: nothing of others is loaded, and nothing runs that was not put there.
import { documentHtml } from '@svc/protocol/documents'

export interface HtmlPage {
  title: string
  /** What the page has beside the style of all documents. */
  style?: string
  /** HTML: text that a person wrote has to be escaped. */
  main: string
  /** A module that runs in the page. */
  script?: string
}

export function htmlPage({ title, style = '', main, script }: HtmlPage): Response {
  const nonce = crypto.randomUUID()
  const code = script?.replaceAll('</', '<\\/')
  const after = code === undefined ? '' : `<script type="module" nonce="${nonce}">${code}</script>\n`
  const html = documentHtml({ title, style, styleAttributes: ` nonce="${nonce}"`, main, after })
  const headers = {
    'Cache-Control': 'no-store',
    'Content-Security-Policy': `default-src 'none'; style-src 'nonce-${nonce}'; script-src ${
      code === undefined ? "'none'" : `'nonce-${nonce}'`
    }; connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    'Content-Type': 'text/html; charset=utf-8',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  }
  return new Response(html, { headers })
}
