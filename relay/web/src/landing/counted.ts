// Counts the visits of a demo site, and shows its owner the latest request.
import type { FetchHandler } from '@svc/sdk-browser'
import type { Demo, Kind } from './demos/demo.ts'
import { publication, update } from './publication.ts'

/** Visits that the page lists. */
const VISITS_MAX = 10
/** What browsers ask for beside a page. */
const ICONS = /^\/(?:favicon\.ico|apple-touch-icon[\w-]*\.png)$/
const NOT_FOUND = 404
/** Fields of a request that the diagram shows. */
const SHOWN_FIELDS = ['host', 'user-agent', 'accept-language']

/** Lists each request as a visit that found something. A webhook inspector has a list of its own. */
export function counted(kind: Kind, { fetch }: Demo): FetchHandler {
  return async (request, info) => {
    const { method, url } = request
    const { pathname, search } = new URL(url)
    const latest = requestText(request)
    if (kind === 'webhook') {
      update({ latest })
      return await fetch(request, info)
    }
    const response = await fetch(request, info)
    if (ICONS.test(pathname) || response.status === NOT_FOUND) return response
    // A request may still arrive after the site was stopped.
    const { visitCount = 0, visits = [] } = publication.value ?? {}
    const visit = { id: visitCount + 1, at: Date.now(), method, path: pathname + search }
    update({ visitCount: visit.id, visits: [visit, ...visits].slice(0, VISITS_MAX), latest })
    return response
  }
}

function requestText({ method, url, headers }: Request): string {
  const { pathname, search } = new URL(url)
  const fields = SHOWN_FIELDS.flatMap((name) => {
    const value = headers.get(name)
    return value === null ? [] : [`${name}: ${value}`]
  })
  return [`${method} ${pathname}${search}`, ...fields].join('\n')
}
