// Makes the URL from the request target and Host (RFC 9112 §3.2, §3.3; RFC 9110 §7.4).

import { valuesOf } from './fields.ts'
import { HttpError } from './http-error.ts'
import type { RequestHead } from './request-head.ts'

export interface ServedAuthority {
  /** Returns whether the site has this host, given in lower case and without port. */
  isOwnHost(host: string): boolean
  /** The site's canonical URL. All URLs of the site have its port. */
  canonicalUrl: string
}

// The grammar of uri-host [":" port] (RFC 3986 §3.2). Userinfo is an error (RFC 9110 §4.2.4).
const AUTHORITY = /^([\w.~!$&'()*+,;=%-]+|\[[\da-fA-F:.]+\])(?::(\d*))?$/
const ABSOLUTE_FORM = /^([a-zA-Z][a-zA-Z\d+.-]*):\/\/([^/?#]*)([/?][^#]*)?$/

/**
 * Returns the URL of the request, with the site's own port: a request with another port came through another server, which may be
 * anyone's. Undefined for `OPTIONS *`, which is about the server. In absolute-form, the target's authority overrides
 * the Host field (RFC 9112 §3.2.2).
 * @throws HttpError `invalid_host`, `invalid_target`, `misdirected_request`
 */
export function requestUrl(head: RequestHead, site: ServedAuthority): string | undefined {
  const absolute = ABSOLUTE_FORM.exec(head.target)
  const named = hostOf(head, site)
  const authority = ownAuthority(absolute ? absolute[2]! : named, site)
  // A URL that is made from the Host field must also be one of the site's own.
  if (authority !== named)
    head.fields = head.fields.map((field) => (field[0] === 'host' ? ['host', authority, field[2]] : field))
  if (absolute) {
    // A site behind TLS does not serve `http:` targets (RFC 9110 §7.4).
    if (absolute[1]!.toLowerCase() !== 'https') throw new HttpError('misdirected_request')
    return `https://${authority}${absolute[3] ?? '/'}`
  }
  if (head.target === '*' && head.method === 'OPTIONS') return undefined
  // A client never sends a fragment (RFC 9112 §3.2.1), and parsers differ in whether they remove one.
  if (!head.target.startsWith('/') || head.target.includes('#')) throw new HttpError('invalid_target')
  return `https://${authority}${head.target}`
}

function hostOf(head: RequestHead, site: ServedAuthority): string {
  const hosts = valuesOf(head.fields, 'host')
  if (hosts.length === 0 && head.version === '1.0') return new URL(site.canonicalUrl).host
  if (hosts.length !== 1 || !AUTHORITY.test(hosts[0]!)) throw new HttpError('invalid_host')
  return hosts[0]!
}

/** Returns the site's own authority for one that a visitor names. Without a port it means the site's port. */
function ownAuthority(authority: string, site: ServedAuthority): string {
  const match = AUTHORITY.exec(authority)
  const url = match && URL.parse(`https://${authority}`)
  if (!url) throw new HttpError('invalid_host')
  // A trailing dot does not change the name.
  const host = match[1]!.toLowerCase().replace(/\.$/, '')
  const { port } = new URL(site.canonicalUrl)
  if (!site.isOwnHost(host) || (match[2] && url.port !== port)) throw new HttpError('misdirected_request')
  return port ? `${host}:${port}` : host
}
