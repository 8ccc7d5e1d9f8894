// Normalizes IP addresses to one spelling each, so that they can be compared.

import { isIP, isIPv4 } from 'node:net'

/**
 * An IP address, in UTF-16 code units: longer texts are refused before a pattern is matched. The longest is an IPv6
 * address of 45 with the name of an interface (15 on Linux) behind `%`.
 */
export const IP_MAX_CHARS = 64
const MAPPED = '::ffff:'

/**
 * Dotted IPv4, also for an IPv4-mapped IPv6 address; IPv6 in the form of RFC 5952, without a zone.
 * @returns undefined when `text` is not an IP address
 */
export function normalizeIp(text: string): string | undefined {
  if (text.length > IP_MAX_CHARS) return undefined
  const zone = text.indexOf('%')
  const address = (zone < 0 ? text : text.slice(0, zone)).toLowerCase()
  if (isIPv4(address)) return address
  if (isIP(address) === 0) return undefined
  if (address.startsWith(MAPPED) && isIPv4(address.slice(MAPPED.length))) return address.slice(MAPPED.length)
  const compressed = new URL(`http://[${address}]`).hostname.slice(1, -1)
  return mappedIpv4(compressed) ?? compressed
}

/** The IPv4 address in `::ffff:hhhh:hhhh`, which is how a URL spells a mapped one. */
function mappedIpv4(address: string): string | undefined {
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(address) ?? []
  if (high === undefined || low === undefined) return undefined
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)]
  return [a >> 8, a & 0xff, b >> 8, b & 0xff].join('.')
}
