// The grammar of authorities and URIs (RFC 3986, Appendix A) that Sign-In with Ethereum uses.

/** userinfo, then an IP literal or a name (which may be an IPv4 address), then a port. The host must not be empty here. */
const AUTHORITY =
  /^(?:(?:[\w.~!$&'()*+,;=:-]|%[\da-f]{2})*@)?(?:\[([\da-f:.]+|v[\da-f]+\.[\w.~!$&'()*+,;=:-]+)\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})+)(?::\d*)?$/i
const SCHEME = /^[a-z][a-z\d+.-]*$/i
/** pchar and the path's delimiters. */
const PATH = /^(?:[\w.~!$&'()*+,;=:@/-]|%[\da-f]{2})*$/i
const QUERY_OR_FRAGMENT = /^(?:[\w.~!$&'()*+,;=:@/?-]|%[\da-f]{2})*$/i
/** pchar. */
const PCHARS = /^(?:[\w.~!$&'()*+,;=:@-]|%[\da-f]{2})*$/i

/** Returns whether `text` is an authority (§3.2) with a host. */
export function isAuthority(text: string): boolean {
  const match = AUTHORITY.exec(text)
  if (!match) return false
  const literal = match[1]
  return literal === undefined || /^v/i.test(literal) || URL.canParse(`http://[${literal}]/`)
}

/** Returns whether `text` is a scheme (§3.1). */
export function isScheme(text: string): boolean {
  return SCHEME.test(text)
}

/** Returns whether `text` is a URI (§3): it has a scheme and is not a relative reference. */
export function isUri(text: string): boolean {
  const [beforeFragment = '', fragment = '', ...furtherHashes] = text.split('#')
  if (furtherHashes.length > 0 || !QUERY_OR_FRAGMENT.test(fragment)) return false
  const queryAt = beforeFragment.indexOf('?')
  const beforeQuery = queryAt < 0 ? beforeFragment : beforeFragment.slice(0, queryAt)
  if (queryAt >= 0 && !QUERY_OR_FRAGMENT.test(beforeFragment.slice(queryAt + 1))) return false
  const colon = beforeQuery.indexOf(':')
  if (colon < 0 || !isScheme(beforeQuery.slice(0, colon))) return false
  const hierarchy = beforeQuery.slice(colon + 1)
  if (!hierarchy.startsWith('//')) return PATH.test(hierarchy)
  const slash = hierarchy.indexOf('/', 2)
  const authority = slash < 0 ? hierarchy.slice(2) : hierarchy.slice(2, slash)
  // An authority may be empty, as in file:///path.
  return (authority === '' || isAuthority(authority)) && (slash < 0 || PATH.test(hierarchy.slice(slash)))
}

/** Returns whether `text` is `*pchar` (§3.3). */
export function isPchars(text: string): boolean {
  return PCHARS.test(text)
}
