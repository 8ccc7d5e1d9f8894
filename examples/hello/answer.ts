// Answers a visitor with a small page that has the number of the visit, or with the count as JSON at /api.
import { htmlPage } from '../shared/html-page.ts'
import { notFound, onlyGet } from '../shared/refusals.ts'

export interface Answer {
  response: Response
  /** Says whether this response shows the page to a person. */
  isVisit: boolean
}

/** @param visits how many there were before this request */
export function answer(request: Request, visits: number): Answer {
  const { pathname, host } = new URL(request.url)
  if (request.method !== 'GET' && request.method !== 'HEAD') return other(onlyGet(request))
  if (pathname === '/api') return other(Response.json({ visits }))
  if (pathname !== '/') return other(notFound(request))
  return { response: page(host, visits + 1), isVisit: request.method === 'GET' }
}

function other(response: Response): Answer {
  return { response, isVisit: false }
}

function page(host: string, visit: number): Response {
  const main = `<h1>Hello, visitor ${visit}</h1>
  <p class="quiet">A tab in somebody's browser wrote this page for you.</p>`
  return htmlPage({ title: `Hello from ${host}`, main })
}
