// A proxy's target has an origin of its own: this maps all fields with URLs between that origin and the visited one.

import type { Field } from './fields.ts'

/** OriginView is one origin as seen on both sides of a proxy. */
export interface OriginView {
  /** The URL that the visitor requested. */
  readonly visited: URL
  /** A URL with the origin that the target considers its own: its scheme, and the `Host` that it gets. */
  readonly believed: URL
  /** The address at which the proxy reaches the target. */
  readonly address: URL
}

/** Matches a whole URL, so that a URL in the query of another is part of that. The first group is the scheme, or what precedes `//`. */
const URLS = /(^|<|url=|\b(?:http|ws)s?:)\/\/([^\s<>"'/?#,;\\]*)([^\s<>"']*)/gi
/** Fields whose value is application data, even if it looks like a URL. */
const OPAQUE: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'etag',
  'if-match',
  'if-none-match',
  'user-agent',
])
const LOOPBACK = /^(?:localhost\.?|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1?\])$/
const DOMAIN = /^domain\s*=/i
const SAME_SITE_NONE = /^\s*samesite\s*=\s*none\s*$/i
const SECURE = /^\s*secure\s*$/i

/**
 * Returns the fields of a request for the target: in `Origin`, `Referer`, `Destination` and every other field
 * with a URL of the visited origin, the target's own origin replaces it.
 */
export function fieldsForTarget(fields: Field[], { visited, believed }: OriginView): Field[] {
  if (visited.origin === believed.origin) return fields
  const isVisited = (url: URL): boolean => url.host === visited.host && /^(?:https|wss):$/.test(url.protocol)
  return fields.map((field) => mapped(field, isVisited, visited, believed))
}

/**
 * Returns the fields of a response, or of a 101, for the visitor: the visited origin replaces the target's in URLs. `Alt-Svc`, by which
 * the target names other endpoints, is dropped.
 */
export function fieldsForVisitor(fields: Field[], view: OriginView): Field[] {
  const isOwn = (url: URL): boolean => isOfTarget(url, view)
  const kept: Field[] = []
  for (const field of fields) {
    const name = field[0].toLowerCase()
    if (name === 'set-cookie') kept.push([field[0], cookieForVisitor(field[1], view), field[2]])
    else if (name !== 'alt-svc') kept.push(mapped(field, isOwn, view.address, view.visited))
  }
  return kept
}

/** Maps the URLs of a field; those without a scheme are relative to `base`. */
function mapped(field: Field, isOwn: (url: URL) => boolean, base: URL, to: URL): Field {
  const [name, value, written] = field
  if (!value.includes('//') || OPAQUE.has(name.toLowerCase())) return field
  const map = (whole: string, before: string, authority: string, rest: string): string => {
    const scheme = before.endsWith(':') ? before.toLowerCase() : ''
    const url = URL.parse(`${scheme || base.protocol}//${authority}`)
    if (!url || url.username || url.password || !isOwn(url)) return whole
    if (scheme === '') return `${before}//${to.host}${rest}`
    return `${scheme.startsWith('ws') ? to.protocol.replace('http', 'ws') : to.protocol}//${to.host}${rest}`
  }
  return [name, value.replace(URLS, map), written]
}

/** Returns whether a URL means the target: by its address, by the host that it gets, or by the visited host with the target's port or scheme. */
function isOfTarget(url: URL, { visited, believed, address }: OriginView): boolean {
  const { hostname } = url
  const port = portOf(url)
  if (port === portOf(address) && isSameHost(hostname, address.hostname)) return true
  if (hostname === believed.hostname && port === portOf(believed)) return true
  return (
    hostname === visited.hostname && (url.port === '' || port === portOf(visited) || port === portOf(address))
  )
}

function isSameHost(a: string, b: string): boolean {
  return a === b || (LOOPBACK.test(a) && LOOPBACK.test(b))
}

function portOf({ port, protocol }: URL): string {
  if (port !== '') return port
  return protocol === 'https:' || protocol === 'wss:' ? '443' : '80'
}

/**
 * Removes a Domain of the target's own, so that the cookie belongs only to the visited host. Keeps `Secure`, and adds it where browsers refuse
 * the cookie without it, since a target behind plain HTTP does not set it.
 */
function cookieForVisitor(value: string, { visited, believed, address }: OriginView): string {
  const [pair, ...attributes] = value.split(';')
  if (attributes.length === 0) return value
  const isKept = (attribute: string): boolean => {
    const domain = domainOf(attribute.trim())
    if (domain === undefined) return true
    // Browsers refuse a Domain of one label.
    if (domain.includes('.') && isWithin(visited.hostname, domain)) return true
    return !isWithin(believed.hostname, domain) && !isSameHost(domain, address.hostname)
  }
  const kept = attributes.filter(isKept)
  if (kept.some((one) => SAME_SITE_NONE.test(one)) && !kept.some((one) => SECURE.test(one)))
    kept.push(' Secure')
  return [pair, ...kept].join(';')
}

function isWithin(hostname: string, domain: string): boolean {
  return hostname === domain || hostname.endsWith(`.${domain}`)
}

/** Returns the domain of a Domain attribute, in lower case without a leading dot; undefined for another attribute. */
function domainOf(attribute: string): string | undefined {
  if (!DOMAIN.test(attribute)) return undefined
  const value = attribute.slice(attribute.indexOf('=') + 1).trim()
  return value.replace(/^\./, '').toLowerCase()
}
