// What a handler finds in Node as in a page: a relative redirect leads to the site, and a Response of a Blob has a length.

import { AsyncLocalStorage } from 'node:async_hooks'
import { DIRECT, type DirectlyHandled, type FetchHandler } from '@svc/sdk-core'
import { blobLengths } from '@svc/sdk-core/fetch-request'

/** The URL of the request that is being handled. */
const requestUrl = new AsyncLocalStorage<string>()
let isInstalled = false

/**
 * Returns the handler, for which `Response.redirect` takes URLs relative to its request. All else of the process finds its globals as
 * before.
 */
export function withHandlerGlobals(fetch: FetchHandler): FetchHandler {
  if (typeof fetch !== 'function') return fetch // The core refuses it.
  install()
  const handler: DirectlyHandled = (request, ...rest) => requestUrl.run(request.url, fetch, request, ...rest)
  const { [DIRECT]: direct } = fetch as DirectlyHandled
  if (direct) handler[DIRECT] = direct
  return handler
}

/**
 * Adds to the methods of the platform, once. A base URL of Node's whole `fetch` would do for redirects, too, but requests of the
 * handler to other servers would then name the site as their Referer.
 */
function install(): void {
  if (isInstalled) return
  isInstalled = true
  const { redirect } = Response
  replace(Response, 'redirect', {
    redirect(url: string | URL, ...status: [status?: number]): Response {
      const base = requestUrl.getStore()
      return redirect.call(Response, base === undefined ? url : new URL(url, base), ...status)
    },
  })
  const { stream } = Blob.prototype
  replace(Blob.prototype, 'stream', {
    stream(this: Blob): ReturnType<Blob['stream']> {
      const made = stream.call(this)
      // Node's Response of a Blob has exactly this stream as its body.
      blobLengths.set(made, this.size)
      return made
    },
  })
}

/** Puts a method in the place of another one, which it looks like. */
function replace(owner: object, name: string, { [name]: value }: Record<string, unknown>): void {
  Object.defineProperty(owner, name, { ...Object.getOwnPropertyDescriptor(owner, name), value })
}
