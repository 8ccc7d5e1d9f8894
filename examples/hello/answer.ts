// What a visitor gets: a small page with the number of the visit, or the count as JSON at /api.

/** The page has no script, and nothing may be added to it. */
const CONTENT_SECURITY_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

export interface Answer {
  response: Response
  /** Whether somebody sees the page now. */
  isVisit: boolean
}

/** @param visits how many there were before this request */
export function answer(request: Request, host: string, visits: number): Answer {
  const { pathname } = new URL(request.url)
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return other(new Response('Only GET and HEAD\n', { status: 405, headers: { Allow: 'GET, HEAD' } }))
  if (pathname === '/api') return other(Response.json({ visits }))
  if (pathname !== '/') return other(new Response('Not found\n', { status: 404 }))
  return { response: page(host, visits + 1), isVisit: request.method === 'GET' }
}

function other(response: Response): Answer {
  return { response, isVisit: false }
}

function page(host: string, visit: number): Response {
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>Hello from ${escapeHtml(host)}</title>
<style>
  body { display: grid; font: 1rem/1.5 system-ui, sans-serif; margin: 0; min-height: 100vh; place-items: center; text-align: center }
  main { padding: 1.5rem }
  h1 { font-size: clamp(1.75rem, 8vw, 3rem); letter-spacing: -.02em; line-height: 1.15; margin: 0 0 .75rem }
  p { margin: 0; opacity: .75 }
</style>
<main>
  <h1>Hello, visitor ${visit}</h1>
  <p>A tab in somebody's browser wrote this page for you.</p>
</main>
</html>
`
  const headers = {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': CONTENT_SECURITY_POLICY,
    'Cache-Control': 'no-store',
  }
  return new Response(html, { headers })
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
