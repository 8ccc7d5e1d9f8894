// What visitors of sites in a tab get: documents that load nothing, or lines of text for programs.
import { documentHtml, escapeHtml } from '@svc/protocol/documents'

/** The fields of each answer. */
export const COMMON: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  Vary: 'Accept',
  'X-Content-Type-Options': 'nosniff',
}

/** @param main HTML */
export function page(status: number, title: string, main: string, style = ''): Response {
  const nonce = crypto.randomUUID()
  const policy = `default-src 'none'; img-src data:; style-src 'nonce-${nonce}'; base-uri 'none'; frame-ancestors 'none'`
  const headers = { ...COMMON, 'Content-Security-Policy': policy, 'Content-Type': 'text/html; charset=utf-8' }
  return new Response(documentHtml({ title, main, style, styleAttributes: ` nonce="${nonce}"` }), {
    status,
    headers,
  })
}

/** Says one thing, in words without markup. */
export function say(
  request: Request,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const answer = /text\/html/i.test(request.headers.get('accept') ?? '')
    ? page(status, text, `<h1>${escapeHtml(text)}</h1>`)
    : new Response(`${text}\n`, { status, headers: COMMON })
  for (const [name, value] of Object.entries(headers)) answer.headers.set(name, value)
  return answer
}
