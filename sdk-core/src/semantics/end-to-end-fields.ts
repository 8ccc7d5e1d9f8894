// Which header fields a proxy passes on: those about one connection stay behind (RFC 9110 §7.6.1).

/** The field Connection names more of them. */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]
/**
 * Fields by which proxies tell a server who its visitor is and what it asked for, and which servers therefore believe.
 * Nobody on the way to a site sets them, so that one that is there is a visitor's claim to be somebody else.
 */
const CLAIMS: ReadonlySet<string> = new Set([
  'cf-connecting-ip',
  'cf-connecting-ipv6',
  'cf-pseudo-ipv4',
  'client-ip',
  'do-connecting-ip',
  'fastly-client-ip',
  'fly-client-ip',
  'forwarded',
  'true-client-ip',
  'x-appengine-user-ip',
  'x-azure-clientip',
  'x-azure-socketip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-envoy-external-address',
  'x-originating-ip',
  'x-real-ip',
  'x-remote-addr',
  'x-remote-ip',
  'x-rewrite-url',
])
const CLAIM_PREFIXES = ['x-forwarded', 'x-original-']

/** @param others to be dropped as well, in lower case */
export function endToEndFields(headers: Headers, others: readonly string[] = []): Headers {
  const named = headers.get('connection')?.toLowerCase().split(',') ?? []
  const dropped = new Set([...HOP_BY_HOP, ...named.map((option) => option.trim()), ...others])
  const kept = new Headers()
  for (const [name, value] of headers) if (!dropped.has(name)) kept.append(name, value)
  return kept
}

/**
 * Of a request to the server behind a site: what a visitor only claims stays behind, too.
 * @param others to be dropped as well, in lower case
 */
export function withoutForwardedFields(headers: Headers, others: readonly string[] = []): Headers {
  const kept = endToEndFields(headers, others)
  for (const name of [...kept.keys()]) if (isClaim(name)) kept.delete(name)
  return kept
}

/** CGI and what came of it (RFC 3875 §4.1.18) makes `_` of `-`, so that both spellings are one field to a server. */
function isClaim(name: string): boolean {
  const spelled = name.replaceAll('_', '-')
  return CLAIMS.has(spelled) || CLAIM_PREFIXES.some((prefix) => spelled.startsWith(prefix))
}
