// Makes a URL of the request target and Host (RFC 9112 §3.2, §3.3; RFC 9110 §7.4).

import { valuesOf } from './fields.ts'
import { HttpError } from './http-error.ts'
import type { RequestHead } from './request-head.ts'

export interface ServedAuthority {
  /** Returns whether the site has this host, which is given in lower case and without port. */
  isOwnHost(host: string): boolean
  /** The site's own URL, for an HTTP/1.0 request that names no host. */
  canonicalUrl: string
}

// The grammar of uri-host [":" port] (RFC 3986 §3.2). Userinfo is an error (RFC 9110 §4.2.4).
const AUTHORITY = /^([\w.~!$&'()*+,;=%-]+|\[[\da-fA-F:.]+\])(?::\d*)?$/
const ABSOLUTE_FORM = /^([a-zA-Z][a-zA-Z\d+.-]*):\/\/([^/?#]*)([/?][^#]*)?$/

/**
 * Returns the URL of the request. Undefined for `OPTIONS *`, which is about the server. In absolute-form the target's
 * authority counts in place of the Host field (RFC 9112 §3.2.2).
 * @throws HttpError `invalid_host`, `invalid_target`, `misdirected_request`
 */
export function requestUrl(head: RequestHead, site: ServedAuthority): string | undefined {
  const named = hostOf(head, site)
  const absolute = ABSOLUTE_FORM.exec(head.target)
  const authority = absolute ? absolute[2]! : named
  checkAuthority(authority, site)
  if (absolute) {
    // A site behind TLS does not serve `http:` targets (RFC 9110 §7.4).
    if (absolute[1]!.toLowerCase() !== 'https') throw new HttpError('misdirected_request')
    head.fields = head.fields.map((field) => (field[0] === 'host' ? ['host', authority] : field))
    return `https://${authority}${absolute[3] ?? '/'}`
  }
  if (head.target === '*' && head.method === 'OPTIONS') return undefined
  // A client never sends a fragment (RFC 9112 §3.2.1), and parsers differ in whether they cut one off.
  if (!head.target.startsWith('/') || head.target.includes('#')) throw new HttpError('invalid_target')
  return `https://${authority}${head.target}`
}

function hostOf(head: RequestHead, site: ServedAuthority): string {
  const hosts = valuesOf(head.fields, 'host')
  if (hosts.length === 0 && head.version === '1.0') return new URL(site.canonicalUrl).host
  if (hosts.length !== 1 || !AUTHORITY.test(hosts[0]!)) throw new HttpError('invalid_host')
  return hosts[0]!
}

function checkAuthority(authority: string, site: ServedAuthority): void {
  const match = AUTHORITY.exec(authority)
  if (!match || !URL.canParse(`https://${authority}`)) throw new HttpError('invalid_host')
  if (!site.isOwnHost(match[1]!.toLowerCase())) throw new HttpError('misdirected_request')
}
