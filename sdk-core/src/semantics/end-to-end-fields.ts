// Selects the header fields that a proxy passes on, without those about one connection (RFC 9110 §7.6.1).

import type { Field } from './fields.ts'

/** The fields about one connection. The field Connection names more of them. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
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
])
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
 * Returns the end-to-end fields, in their order.
 * @param others fields to drop as well, in lower case
 */
export function endToEnd(fields: Iterable<Field>, others: readonly string[] = []): Field[] {
  const named = new Set(others)
  const kept: Field[] = []
  for (const field of fields) {
    if (field[0] === 'connection')
      for (const option of field[1].toLowerCase().split(',')) named.add(option.trim())
    else if (!HOP_BY_HOP.has(field[0])) kept.push(field)
  }
  return named.size === 0 ? kept : kept.filter(([name]) => !named.has(name))
}

/**
 * Returns the end-to-end fields of a request for the server behind a site, without the visitor's claims.
 * @param others fields to drop as well, in lower case
 */
export function withoutClaims(fields: Iterable<Field>, others: readonly string[] = []): Field[] {
  return endToEnd(fields, others).filter(([name]) => !isClaim(name))
}

/** Returns what {@link endToEnd} does, as `Headers`. */
export function endToEndFields(headers: Headers, others?: readonly string[]): Headers {
  return headersOf(endToEnd(headers, others))
}

/** Returns what {@link withoutClaims} does, as `Headers`. */
export function withoutForwardedFields(headers: Headers, others?: readonly string[]): Headers {
  return headersOf(withoutClaims(headers, others))
}

function headersOf(fields: readonly Field[]): Headers {
  const headers = new Headers()
  for (const [name, value] of fields) headers.append(name, value)
  return headers
}

/** Treats `_` as `-`: CGI (RFC 3875 §4.1.18) and its successors make one field of both spellings. */
function isClaim(name: string): boolean {
  const spelled = name.replaceAll('_', '-')
  return CLAIMS.has(spelled) || CLAIM_PREFIXES.some((prefix) => spelled.startsWith(prefix))
}
