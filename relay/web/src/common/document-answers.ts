// What visitors of sites in a tab get: documents that load nothing, or lines of text for programs.
import { documentHtml, escapeHtml } from '@svc/protocol/documents'

/** The fields of each answer. */
export const COMMON: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  Vary: 'Accept, Sec-Fetch-Mode',
  'X-Content-Type-Options': 'nosniff',
}

/** @param main HTML */
export function page(status: number, title: string, main: string, style = ''): Response {
  const nonce = crypto.randomUUID()
  const policy = `default-src 'none'; img-src data:; style-src 'nonce-${nonce}'; base-uri 'none'; frame-ancestors 'none'`
  const headers = { ...COMMON, 'Content-Security-Policy': policy, 'Content-Type': 'text/html; charset=utf-8' }
  const html = documentHtml({
    ...languageOfWords(),
    title,
    main,
    style,
    styleAttributes: ` nonce="${nonce}"`,
  })
  return new Response(html, { status, headers })
}

/** The words are those of the page that publishes. A worker has no page, and speaks English. */
function languageOfWords(): { lang?: string; dir?: string } {
  const { lang, dir } = globalThis.document?.documentElement ?? {}
  return { lang: lang || 'en', dir: dir ?? '' }
}

interface Said {
  headers?: Readonly<Record<string, string>>
  /** What a person can do about it; the page leads to the site's first one besides. */
  next?: string
}

/** Says one thing, in words without markup. */
export function say(
  request: Request,
  status: number,
  text: string,
  { headers = {}, next }: Said = {},
): Response {
  const answer = isShown(request.headers)
    ? page(status, text, `<h1>${escapeHtml(text)}</h1>${next === undefined ? '' : nextHtml(request, next)}`)
    : new Response(`${text}\n`, { status, headers: COMMON })
  for (const [name, value] of Object.entries(headers)) answer.headers.set(name, value)
  return answer
}

/** Returns whether a browser will show the answer as a page. */
function isShown(headers: Headers): boolean {
  const mode = headers.get('sec-fetch-mode')
  return mode === null ? /text\/html/i.test(headers.get('accept') ?? '') : mode === 'navigate'
}

function nextHtml({ url }: Request, next: string): string {
  return `\n<p>${escapeHtml(next)}</p>\n<p><a href="/">${escapeHtml(new URL(url).host)}</a></p>`
}
