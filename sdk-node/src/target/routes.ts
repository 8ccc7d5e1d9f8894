// Several targets behind one site, chosen by the path or the host of the request.

import { isAbsolute } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DIRECT, type DirectlyHandled, type FetchHandler, SvcError } from '@svc/sdk-core'
import { files } from '@svc/sdk-core/handlers'
import { openFolder } from '../folder/folder-handle.ts'
import { type HttpTargetOptions, httpTarget } from './http-target.ts'
import { parseHttpTarget } from './target-address.ts'

/**
 * A local HTTP server as in `http`; a folder, as a path that begins with `/` or `.` or as a `file:` URL; or a handler.
 * A server and a handler get the whole path of the request, a folder the part after the prefix.
 */
export type RouteTarget = number | string | URL | FetchHandler

/** Targets by `/prefix`, `host` or `host/prefix`. */
export type Routes = Readonly<Record<string, RouteTarget>>

/** The host of a route, empty for any host. A port is not allowed: a relay has only one. */
const HOST = /^[\w.-]*$/

interface Place {
  /** The host, empty for any. */
  host: string
  /** The path without a trailing slash, empty for all paths. */
  prefix: string
}

interface Route extends Place {
  answer: DirectlyHandled
}

/**
 * Chooses the route with the longest prefix; a route of the visitor's host precedes one of any host.
 * @param otherwise answers requests without a matching route
 * @throws SvcError `invalid_option` that names the route
 */
export async function routeHandler(
  routes: Routes,
  otherwise: DirectlyHandled,
  options: HttpTargetOptions,
): Promise<DirectlyHandled> {
  const found: Route[] = []
  for (const [key, target] of Object.entries(routes)) {
    const place = parsePlace(key)
    if (found.some(({ host, prefix }) => host === place.host && prefix === place.prefix))
      throw new SvcError('invalid_option', `route ${JSON.stringify(key)} is there twice`)
    found.push({ ...place, answer: await handlerOf(key, target, place.prefix, options) })
  }
  found.sort((a, b) => Number(b.host !== '') - Number(a.host !== '') || b.prefix.length - a.prefix.length)
  const handlerAt = ({ hostname, pathname }: URL): DirectlyHandled => {
    const route = found.find(
      ({ host, prefix }) => (host || hostname) === hostname && isBelow(pathname, prefix),
    )
    return route?.answer ?? otherwise
  }
  const routed: DirectlyHandled = (request, info) => handlerAt(new URL(request.url))(request, info)
  routed[DIRECT] = (request) => handlerAt(request.url)[DIRECT]?.(request)
  return routed
}

/** `/api` matches `/api` and all paths below `/api/`, but not `/apis`. */
function isBelow(pathname: string, prefix: string): boolean {
  return pathname.startsWith(prefix) && (pathname.length === prefix.length || pathname[prefix.length] === '/')
}

/** Parses a route's key, normalized like a request's URL. */
function parsePlace(key: string): Place {
  const slash = key.indexOf('/')
  const host = slash < 0 ? key : key.slice(0, slash)
  const path = slash < 0 ? '/' : key.slice(slash)
  const url = URL.parse(`https://${host || 'localhost'}${path}`)
  if (key === '' || !HOST.test(host) || url === null || url.search + url.hash !== '')
    throw new SvcError(
      'invalid_option',
      `route ${JSON.stringify(key)} is not a path, a host, or a host and a path`,
    )
  return { host: host && url.hostname, prefix: withoutSlashes(url.pathname) }
}

/** @returns the path without trailing slashes */
function withoutSlashes(path: string): string {
  let end = path.length
  while (path[end - 1] === '/') end -= 1
  return path.slice(0, end)
}

async function handlerOf(
  key: string,
  target: RouteTarget,
  prefix: string,
  options: HttpTargetOptions,
): Promise<DirectlyHandled> {
  if (typeof target === 'function') return target
  const folder = folderPath(key, target)
  if (folder !== undefined) return below(prefix, files(await openFolder(folder)))
  return httpTarget(parseHttpTarget(target, `route ${JSON.stringify(key)}:`), options)
}

function folderPath(key: string, target: number | string | URL): string | undefined {
  const text = String(target)
  if (text.startsWith('.') || isAbsolute(text)) return text
  if (!text.startsWith('file:')) return undefined
  try {
    return fileURLToPath(text)
  } catch (cause) {
    throw new SvcError('invalid_option', `route ${JSON.stringify(key)}: ${text} is not on this machine`, {
      cause,
    })
  }
}

/** Strips the prefix for a folder; the redirects of `files` are relative and remain right. */
function below(prefix: string, handler: FetchHandler): FetchHandler {
  if (prefix === '') return handler
  const name = prefix.slice(prefix.lastIndexOf('/') + 1)
  return (request, info) => {
    const url = new URL(request.url)
    if (url.pathname === prefix)
      return new Response(null, { status: 301, headers: { Location: `./${name}/${url.search}` } })
    url.pathname = url.pathname.slice(prefix.length)
    const { method, headers, signal } = request
    return handler(new Request(url, { method, headers, signal }), info, info)
  }
}
