// The static site at the root host, for paths that the API does not reserve.

import sirv from 'sirv'
import type { Handler } from './server.ts'

const NOT_FOUND = 404

/** @param directory undefined: there is no site and every such path is not found */
export function createSite(directory: string | undefined): Handler {
  if (directory === undefined) return (_request, response) => notFound(response)
  // Nothing is cached without asking: a developer's rebuild shows at the next load.
  const serve = sirv(directory, { etag: true, maxAge: 0 })
  return (request, response) => serve(request, response, () => notFound(response))
}

function notFound(response: Parameters<Handler>[1]): void {
  response.writeHead(NOT_FOUND, { 'Content-Type': 'text/plain; charset=utf-8' })
  response.end('Not found\n')
}
