// Selects the header fields that a proxy passes on, without those about one connection (RFC 9110 §7.6.1).

/** The fields about one connection. The field Connection names more of them. */
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
 * Fields by which proxies tell a server the visitor's address and what it requested. Servers believe them. No proxy on
 * the way to a site sets them, so one that is there is the visitor's own claim.
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

/**
 * Returns the end-to-end fields.
 * @param others fields to drop as well, in lower case
 */
export function endToEndFields(headers: Headers, others: readonly string[] = []): Headers {
  const named = headers.get('connection')?.toLowerCase().split(',') ?? []
  const dropped = new Set([...HOP_BY_HOP, ...named.map((option) => option.trim()), ...others])
  const kept = new Headers()
  for (const [name, value] of headers) if (!dropped.has(name)) kept.append(name, value)
  return kept
}

/**
 * Returns the end-to-end fields of a request for the server behind a site, without the visitor's claims.
 * @param others fields to drop as well, in lower case
 */
export function withoutForwardedFields(headers: Headers, others: readonly string[] = []): Headers {
  const kept = endToEndFields(headers, others)
  for (const name of [...kept.keys()]) if (isClaim(name)) kept.delete(name)
  return kept
}

/** Treats `_` as `-`: CGI (RFC 3875 §4.1.18) and its successors make one field of both spellings. */
function isClaim(name: string): boolean {
  const spelled = name.replaceAll('_', '-')
  return CLAIMS.has(spelled) || CLAIM_PREFIXES.some((prefix) => spelled.startsWith(prefix))
}
