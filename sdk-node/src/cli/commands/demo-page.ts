// The page of `svc demo`: it says where it comes from, and takes a line that appears in the terminal.

import { escapeHtml } from '@svc/protocol/documents'
import { browserOf, documentAnswer, lineOrPage } from '@svc/sdk-core'
import type { Reporter } from '../report/report.ts'

/** The most characters of a visitor's line: what fits beside the rest in two lines of a terminal. */
const SAID_MAX = 140
const OK = 200
const METHOD_NOT_ALLOWED = 405
const NOT_FOUND = 404

/** @returns the handler, which tells each visit and each line */
export function demoPage(tell: Reporter): (request: Request) => Response {
  let visits = 0
  return (request) => {
    const { pathname, searchParams } = new URL(request.url)
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return lineOrPage(request, METHOD_NOT_ALLOWED, 'Only GET and HEAD', { Allow: 'GET, HEAD' })
    if (pathname !== '/') return lineOrPage(request, NOT_FOUND, 'Not found')
    const said = searchParams.get('say')?.replace(/\s+/g, ' ').trim().slice(0, SAID_MAX)
    if (!said) visits += 1
    const browser = browserOf(request.headers.get('user-agent'))
    tell({ event: 'visited', visit: visits, browser, ...(said && { said }) })
    return page(visits, said)
  }
}

function page(visit: number, said: string | undefined): Response {
  const quote = said ? `<blockquote>${escapeHtml(said)}</blockquote>\n` : ''
  const main = `<h1>${said ? 'It is in the terminal' : 'Hello from a terminal'}</h1>
<p>You are visitor ${visit}. The command <code>svc demo</code> wrote this page, on somebody’s machine. TLS ended there: the relay
between you carried bytes that it cannot read.</p>
${quote}<form method="get">
<label>Say something, and it appears there: <input name="say" maxlength="${SAID_MAX}" autocomplete="off" required></label>
<button>Send</button>
</form>`
  return documentAnswer(OK, { title: 'Hello from svc', main }, { 'Cache-Control': 'no-store' })
}
