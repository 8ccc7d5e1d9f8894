// The page of `svc demo`: it says where it comes from, and takes a line that appears in the terminal.

import { randomUUID } from 'node:crypto'
import type { Reporter } from '../report/report.ts'

/** The most characters of a visitor's line: what fits beside the rest in two lines of a terminal. */
const SAID_MAX = 140
const METHOD_NOT_ALLOWED = 405
const NOT_FOUND = 404
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** What a browser says of itself, the more special first: each also names those that it wants to be taken for. */
const BROWSERS: readonly [RegExp, string][] = [
  [/Edg(?:A|iOS)?\//, 'Edge'],
  [/(?:Firefox|FxiOS)\//, 'Firefox'],
  [/(?:Chrome|CriOS)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
  [/^curl\//, 'curl'],
]
const SYSTEMS: readonly [RegExp, string][] = [
  [/Android/, 'Android'],
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Windows/, 'Windows'],
  [/Macintosh/, 'macOS'],
  [/Linux/, 'Linux'],
]

/** @returns the handler, which tells each visit and each line */
export function demoPage(tell: Reporter): (request: Request) => Response {
  let visits = 0
  return (request) => {
    const { pathname, searchParams } = new URL(request.url)
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return new Response('Only GET and HEAD\n', {
        status: METHOD_NOT_ALLOWED,
        headers: { Allow: 'GET, HEAD' },
      })
    if (pathname !== '/') return new Response('Not found\n', { status: NOT_FOUND })
    const said = searchParams.get('say')?.replace(/\s+/g, ' ').trim().slice(0, SAID_MAX)
    if (!said) visits += 1
    const browser = browserOf(request.headers.get('user-agent') ?? '')
    tell({ event: 'visited', visit: visits, browser, ...(said && { said }) })
    return page(visits, said)
  }
}

/** @returns such as `Chrome on Android`: words of ours alone, since a visitor may claim anything */
export function browserOf(userAgent: string): string {
  const nameIn = (table: readonly [RegExp, string][]): string | undefined =>
    table.find(([pattern]) => pattern.test(userAgent))?.[1]
  const browser = nameIn(BROWSERS) ?? 'a program'
  const system = nameIn(SYSTEMS)
  return system === undefined ? browser : `${browser} on ${system}`
}

function page(visit: number, said: string | undefined): Response {
  const nonce = randomUUID()
  const body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>Hello from svc</title>
<style nonce="${nonce}">
body { display: grid; font: 1rem/1.5 system-ui, sans-serif; margin: 0; min-height: 100vh; place-items: center }
main { max-width: 34rem; padding: 1.5rem }
h1 { font-size: clamp(1.75rem, 8vw, 2.75rem); letter-spacing: -.02em; line-height: 1.15; margin: 0 0 .75rem }
form { display: flex; flex-wrap: wrap; gap: .5rem }
label { flex: 100% }
input { flex: 1; min-width: 0 }
input, button { border-radius: .5rem; font: inherit; min-height: 2.75rem; padding: 0 .9rem }
</style>
<main>
<h1>${said ? 'It is in the terminal' : 'Hello from a terminal'}</h1>
<p>You are visitor ${visit}. The command <code>svc demo</code> wrote this page, on somebody’s machine. TLS ended there: the relay
between you carried bytes that it cannot read.</p>
${said ? `<blockquote>${escapeHtml(said)}</blockquote>\n` : ''}<form>
<label for="say">Say something, and it appears there:</label>
<input id="say" name="say" maxlength="${SAID_MAX}" autocomplete="off" required>
<button>Send</button>
</form>
</main>
</html>
`
  const policy = `default-src 'none'; img-src data:; style-src 'nonce-${nonce}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`
  return new Response(body, {
    headers: {
      'Cache-Control': 'no-store',
      'Content-Security-Policy': policy,
      'Content-Type': 'text/html; charset=utf-8',
      'X-Content-Type-Options': 'nosniff',
    },
  })
}

/** For text between tags. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>]/g, (character) => ENTITIES[character] ?? '')
}
