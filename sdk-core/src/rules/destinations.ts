// Where redirects and rewrites lead: to a path of the site or, for a redirect, to a URL.

import { printed, type Value, wrong } from './checks.ts'
import { isCleanPath, type PathPattern, RequestPath } from './path.ts'

/** Any origin for paths of the site. */
const OWN = 'https://site.invalid'
const STAR = '/*'
const SCHEME = /^https?:\/\//i
/** What URL parsers remove or change, so that a reader sees another address than a browser does. */
const UNCLEAR = /[\0-\x20\x7f\\]/

/** A Destination is where a rule leads. */
export interface Destination {
  readonly path: PathPattern
  /** The URL without what `*` stands for. */
  readonly base: URL
  /** True when the destination is a path of the site. */
  readonly isOwn: boolean
  /** True when the destination continues with what `*` stands for. */
  readonly goesOn: boolean
}

/**
 * Parses the destination of a rewrite.
 * @throws SvcError `invalid_option`
 */
export function parsePath(to: Value, path: PathPattern): Destination {
  const { given } = to
  if (!isCleanPath(given))
    wrong(to, `has to be a path such as "/new" or "/new/*", without a query, not ${printed(given)}`)
  return destinationOf(to, given, path)
}

/**
 * Parses the destination of a redirect.
 * @throws SvcError `invalid_option`
 */
export function parseAddress(to: Value, path: PathPattern): Destination {
  const { given } = to
  const advice = `has to be a path such as "/new/*", or an http(s) URL such as "https://other.example/*", not ${printed(given)}`
  if (typeof given !== 'string' || UNCLEAR.test(given)) wrong(to, advice)
  const isOwn = given.startsWith('/')
  const [address = ''] = given.split(/[?#]/, 1)
  if (isOwn ? !isCleanPath(address) : !SCHEME.test(given)) wrong(to, advice)
  const destination = destinationOf(to, given, path)
  const { base } = destination
  if (base.username !== '' || base.password !== '') wrong(to, 'must not have a name and a password')
  if (base.host.includes('*') || base.pathname.includes('*') || !isCleanPath(base.pathname))
    wrong(to, 'may have * at the end of its path alone, after a slash')
  if (isOwn && path.covers(new RequestPath(`${base.pathname}${destination.goesOn ? 'x' : ''}`)))
    wrong(to, 'leads to a path that the rule itself redirects')
  return destination
}

function destinationOf(to: Value, text: string, path: PathPattern): Destination {
  const isOwn = text.startsWith('/')
  const goesOn = text.endsWith(STAR)
  if (goesOn && !path.isOpen) wrong(to, 'ends with /*, so path has to end with it, too')
  const base = URL.parse(`${isOwn ? OWN : ''}${goesOn ? text.slice(0, -1) : text}`)
  if (!base) wrong(to, `is not a URL: ${printed(text)}`)
  return { path, base, isOwn, goesOn }
}

/** Returns the URL to which a request is redirected. */
export function redirectedUrl(destination: Destination, url: URL, path: RequestPath): URL {
  const { base, isOwn } = destination
  const to = new URL(isOwn ? url : base)
  if (isOwn) to.search = base.search
  if (isOwn) to.hash = base.hash
  to.pathname = pathAt(destination, path)
  if (base.search === '') to.search = url.search
  return to
}

/** Returns the URL that the handler gets. */
export function rewrittenUrl(destination: Destination, url: URL, path: RequestPath): URL {
  const to = new URL(url)
  to.pathname = pathAt(destination, path)
  return to
}

/** A path that begins with two slashes stays one: it is a part of a whole URL. */
function pathAt({ base, goesOn, path: pattern }: Destination, path: RequestPath): string {
  return goesOn ? base.pathname + pattern.rest(path) : base.pathname
}
