// Serves what the user wrote: text as a page of its own, HTML as it is.
import { COMMON, say } from '../../common/document-answers.ts'
import { NOTE } from '../../texts/note.ts'
import type { Demo } from './demo.ts'
import { textPage } from './text-page.ts'

export function createDemo(text: string): Demo {
  let note = text
  let visits = 0
  const fetch = (request: Request): Response => {
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return say(request, 405, NOTE.onlyGet, { headers: { Allow: 'GET, HEAD' }, next: NOTE.firstPage })
    if (new URL(request.url).pathname !== '/')
      return say(request, 404, NOTE.notFound, { next: NOTE.firstPage })
    visits += 1
    return isHtml(note) ? html(note) : notePage(note, visits)
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

function notePage(note: string, visits: number): Response {
  const [title = '', ...rest] = note.trim().split('\n')
  return textPage({ title, text: rest.join('\n').trim(), foot: NOTE.visitor(visits) })
}
