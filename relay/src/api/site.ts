// The static site at the root host, for paths that the API does not reserve.

import sirv from 'sirv'
import { sendText } from './envelope.ts'
import { pathOf } from './request.ts'
import type { Handler } from './server.ts'

const NOT_FOUND = 404
const LANDING_PAGE = new Set(['/', '/index.html'])

/**
 * @param directory undefined: there is no site and every such path is not found
 * @param hasLandingPage whether `/` is served; what else the site has, such as `/admin`, is served in any case
 */
export function createSite(directory: string | undefined, hasLandingPage: () => boolean): Handler {
  if (directory === undefined) return (_request, response) => notFound(response)
  // Nothing is cached without asking: a developer's rebuild shows at the next load.
  const serve = sirv(directory, { etag: true, maxAge: 0 })
  return (request, response) => {
    if (LANDING_PAGE.has(pathOf(request)) && !hasLandingPage()) notFound(response)
    else serve(request, response, () => notFound(response))
  }
}

function notFound(response: Parameters<Handler>[1]): void {
  sendText(response, NOT_FOUND, 'Not found\n')
}
