// Reads the site that a path below `/go/` names, and the path and query at that site.

import { normalizeCanonicalLabel, normalizeName, PATH } from '@svc/protocol'

export interface GoTarget {
  /** First label of one of the site's hostnames, in lower case. */
  label: string
  /** Whether the hostname is the canonical one, by which other relays know the site, too. */
  isCanonical: boolean
  /** Path and query at the site: empty, or beginning with `/` or `?`. */
  rest: string
}

/** @returns undefined when the request target names no site */
export function readGoTarget(requestTarget: string): GoTarget | undefined {
  const after = requestTarget.slice(PATH.go.length)
  const end = after.search(/[/?]/)
  const given = end < 0 ? after : after.slice(0, end)
  const canonical = normalizeCanonicalLabel(given)
  const label = canonical ?? friendlyLabel(given)
  const isCanonical = canonical !== undefined
  return label === undefined ? undefined : { label, isCanonical, rest: end < 0 ? '' : after.slice(end) }
}

/** @returns undefined for what is a lease name only without its white space */
function friendlyLabel(label: string): string | undefined {
  const name = normalizeName(label)
  return name === label.toLowerCase() ? name : undefined
}

/**
 * Returns the site's URL at a relay. It is below the relay's host, whatever the visitor's path is.
 * @param origin of a relay whose host is a name
 */
export function siteUrl(origin: string, { label, rest }: Pick<GoTarget, 'label' | 'rest'>): string {
  const url = new URL(origin)
  const query = rest.indexOf('?')
  // Each setter parses only its own part, so a path such as `//other.example` stays a path.
  url.hostname = `${label}.${url.hostname}`
  url.pathname = query < 0 ? rest : rest.slice(0, query)
  url.search = query < 0 ? '' : rest.slice(query)
  return url.href
}

/** Returns the URL of the same `/go/` page at another relay. */
export function goUrl(origin: string, { label, rest }: GoTarget): string {
  return new URL(`${origin}${PATH.go}${label}${rest}`).href
}
