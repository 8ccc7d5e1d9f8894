// Serves what the user wrote: text as a page of its own, HTML as it is.
import { NOTE } from '../../texts/note.ts'
import type { Demo } from './demo.ts'
import style from './note.css?inline'

export function createDemo(text: string): Demo {
  let note = text
  let visits = 0
  const fetch = (request: Request): Response => {
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return new Response(NOTE.onlyGet, { status: 405, headers: { Allow: 'GET, HEAD' } })
    if (new URL(request.url).pathname !== '/') return new Response(NOTE.notFound, { status: 404 })
    visits += 1
    return isHtml(note) ? html(note) : page(note, visits)
  }
  return {
    fetch,
    write: (text) => {
      note = text
    },
  }
}

function isHtml(note: string): boolean {
  return note.trimStart().startsWith('<')
}

/** The user's own page at an origin of its own, so it needs no policy. */
function html(note: string): Response {
  return new Response(note, { headers: { ...COMMON, 'Content-Type': 'text/html; charset=utf-8' } })
}

function page(note: string, visits: number): Response {
  const nonce = crypto.randomUUID()
  const [title = '', ...rest] = note.trim().split('\n')
  const text = rest.join('\n').trim()
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
${text === '' ? '' : `<div>${escapeHtml(text)}</div>\n`}<p>${NOTE.visitor(visits)}</p>
</main>
</html>
`
  const policy = `default-src 'none'; img-src data:; style-src 'nonce-${nonce}'; base-uri 'none'; frame-ancestors 'none'`
  const headers = { ...COMMON, 'Content-Security-Policy': policy, 'Content-Type': 'text/html; charset=utf-8' }
  return new Response(body, { headers })
}

const COMMON = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' }

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** For text between tags. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>]/g, (character) => ENTITIES[character] ?? '')
}
