// Who may come to a site: each request is checked before the handler gets it.

import { SvcError } from '../errors.ts'
import type { FetchHandler } from '../exchange/fetch-handler.ts'
import { buildRequest } from '../exchange/fetch-request.ts'
import { bearer } from '../handlers/authentication.ts'
import type { SiteOptions } from '../site/options.ts'
import { type AccessOptions, checkAccess } from './options.ts'

/**
 * Returns the options of a site whose handler gets only the requests of visitors who may come in.
 * @throws SvcError `invalid_option`
 */
export function guardedSite(options: SiteOptions, access: AccessOptions): SiteOptions {
  const fetch = guarded(options.fetch, access)
  if (options.cache)
    throw new SvcError(
      'invalid_option',
      'access and cache exclude each other: the relay gives its copy of the files to everybody',
    )
  return { ...options, fetch }
}

/**
 * Returns a handler that lets in visitors by the options. It has no direct path, which would lead around them.
 * @throws SvcError `invalid_option`
 */
export function guarded(handler: FetchHandler, access: AccessOptions): FetchHandler {
  const { bearer: token } = checkAccess(access)
  return bearer((request, info) => handler(withoutCredentials(request), info, info), token)
}

/** Returns the request without the token, which is the site's secret. */
function withoutCredentials(request: Request): Request {
  const headers = new Headers(request.headers)
  headers.delete('authorization')
  const { url, method, signal } = request
  return buildRequest(url, { method, headers, signal }, request.body ?? undefined)
}
