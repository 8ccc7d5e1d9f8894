// Serves a page that greets visitors and counts them.
import { HELLO } from '../../texts/hello.ts'
import type { Demo } from './demo.ts'
import style from './hello.css?inline'

export function createDemo(): Demo {
  let visits = 0
  const fetch = (request: Request): Response => {
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return new Response(HELLO.onlyGet, { status: 405, headers: { Allow: 'GET, HEAD' } })
    if (new URL(request.url).pathname !== '/') return new Response(HELLO.notFound, { status: 404 })
    visits += 1
    return page(HELLO.title(visits))
  }
  return { fetch }
}

/** The page contains no text from visitors, so it needs no escaping. */
function page(title: string): Response {
  const nonce = crypto.randomUUID()
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>${title}</title>
<style nonce="${nonce}">${style}</style>
<main>
<h1>${title}</h1>
<p>${HELLO.about}</p>
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
  return new Response(html, { headers })
}
