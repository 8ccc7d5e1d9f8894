// A page for visitors with a title and a text. Nothing runs in it.
import { escapeHtml } from '../../../../../examples/shared/html-page.ts'
import style from './note.css?inline'

interface TextPage {
  title: string
  /** Empty for none. */
  text: string
  foot: string
}

export function textPage({ title, text, foot }: TextPage): Response {
  const nonce = crypto.randomUUID()
  const body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>${escapeHtml(title)}</title>
<style nonce="${nonce}">${style}</style>
<main>
<h1>${escapeHtml(title)}</h1>
${text === '' ? '' : `<div>${escapeHtml(text)}</div>\n`}<p>${escapeHtml(foot)}</p>
</main>
</html>
`
  const policy = `default-src 'none'; img-src data:; style-src 'nonce-${nonce}'; base-uri 'none'; frame-ancestors 'none'`
  const headers = {
    'Cache-Control': 'no-store',
    'Content-Security-Policy': policy,
    'Content-Type': 'text/html; charset=utf-8',
    'X-Content-Type-Options': 'nosniff',
  }
  return new Response(body, { headers })
}
