// The static site at the root host, for paths that the API does not reserve.

import sirv from 'sirv'
import { sendText } from './envelope.ts'
import { pathOf } from './request.ts'
import type { Handler } from './server.ts'

const NOT_FOUND = 404
/** The relay's public face: the landing page, and the list of sites that it leads to. */
const LANDING_PAGE = /^\/(?:sites\/?)?(?:index(?:\.html?)?)?$/
/** A file whose name changes with its content, as Vite makes them. */
const HASHED_ASSET = /\/assets\/[^/]+-[\w-]{8}\.\w+$/
/** What begins with a dot is not meant for the public. */
const HIDDEN = /\/\./

/**
 * Of every answer, because every page here shares its origin with the administrator's: only what the site brought along
 * runs, nobody frames it, and nothing but pictures comes from elsewhere.
 */
const HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data: https:",
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
}

/**
 * @param directory undefined: there is no site and every such path is not found
 * @param hasLandingPage whether `/` is served; what else the site has, such as `/admin`, is served in any case
 */
export function createSite(directory: string | undefined, hasLandingPage: () => boolean): Handler {
  if (directory === undefined) return (_request, response) => notFound(response)
  const serve = sirv(directory, {
    // Looks at the files at each request: a rebuild shows at the next load, and cannot leave a file that is gone.
    dev: true,
    etag: true,
    // Of a file that lies beside it compressed already.
    brotli: true,
    gzip: true,
    setHeaders: (response, path) => {
      if (HASHED_ASSET.test(path)) response.setHeader('Cache-Control', 'public, max-age=31536000, immutable')
    },
  })
  return (request, response) => {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value)
    const path = decoded(pathOf(request))
    if (HIDDEN.test(path) || (LANDING_PAGE.test(path) && !hasLandingPage())) notFound(response)
    else serve(request, response, () => notFound(response))
  }
}

/** As the file is looked for. */
function decoded(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

function notFound(response: Parameters<Handler>[1]): void {
  sendText(response, NOT_FOUND, 'Not found\n')
}
