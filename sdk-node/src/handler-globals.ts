// Makes Node's globals behave as in a page: a relative redirect leads to the site, and a Response of a Blob has a length.

import { AsyncLocalStorage } from 'node:async_hooks'
import { DIRECT, type DirectlyHandled, type FetchHandler } from '@svc/sdk-core'
import { blobLengths } from '@svc/sdk-core/fetch-request'

/** The URL of the request that is being handled. */
const requestUrl = new AsyncLocalStorage<string>()
let isInstalled = false

/**
 * Returns the handler, inside which `Response.redirect` resolves URLs against the request. For other code, the globals work as
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
 * Patches the platform's methods, once. A global base URL for Node's `fetch` would also fix redirects, but requests of the
 * handler to other servers would then send the site as their Referer.
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

/** Replaces a method with one that looks like it. */
function replace(owner: object, name: string, { [name]: value }: Record<string, unknown>): void {
  Object.defineProperty(owner, name, { ...Object.getOwnPropertyDescriptor(owner, name), value })
}
