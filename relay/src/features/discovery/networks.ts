// The network of a relay's address. The table limits the number of relays in each.

import { groupsOf, normalizeIp } from '../../core/client-address/ip-address.ts'

const IPV4_OCTETS = 3
/** 56 bits are three groups of 16 and the upper byte of the fourth. */
const IPV6_GROUPS = 3
const BYTE_BITS = 8

/** The /24 of an IPv4 address, the /56 of an IPv6 address; empty for anything else. */
export function relayNetworkOf(address: string | undefined): string {
  const ip = address === undefined ? undefined : normalizeIp(address)
  if (ip === undefined) return ''
  if (!ip.includes(':')) return `${ip.split('.').slice(0, IPV4_OCTETS).join('.')}.0/24`
  const groups = groupsOf(ip)
  const upper = Number.parseInt(groups[IPV6_GROUPS]!, 16) >> BYTE_BITS
  return `${groups.slice(0, IPV6_GROUPS).join(':')}:${(upper << BYTE_BITS).toString(16)}::/56`
}
