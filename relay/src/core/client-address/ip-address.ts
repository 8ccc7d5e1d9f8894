// Says of which network an IP address is.

import { isIPv4 } from 'node:net'

export { IP_MAX_CHARS, normalizeIp } from '@svc/node-kit/ip-address'

/** Returns whether the client is on this machine. @param ip normalized */
export function isLoopback(ip: string): boolean {
  return ip === '::1' || (isIPv4(ip) && ip.startsWith('127.'))
}

const IPV6_GROUPS = 8
/**
 * The network of all relays that WireGuard links: a unique local one (RFC 4193), whose global ID is the start of SHA-256 of
 * `svc overlay`.
 */
export const OVERLAY_PREFIX = 'fd9c:6cc0:2f1f::'
const OVERLAY_START: string = OVERLAY_PREFIX.slice(0, -1)

/** Returns whether it is the address of a relay on that network. @param ip normalized */
export function isOnOverlay(ip: string): boolean {
  return ip.startsWith(OVERLAY_START)
}
/** Prefix of an IPv6 network. A subscriber has at least a /64 (RFC 6177), and so all addresses in it. */
export const IPV6_NETWORK_BITS = 64
const NETWORK_GROUPS: number = IPV6_NETWORK_BITS / 16

/**
 * The network of a client address: an IPv4 address itself, or the /64 of an IPv6 address. A relay on the overlay has one
 * address, which its key determines: 16 bits of a /64 there are soon those of another relay.
 * @param ip normalized
 */
export function networkOf(ip: string): string {
  if (isOnOverlay(ip)) return ip
  return ip.includes(':') ? groupsOf(ip).slice(0, NETWORK_GROUPS).join(':') : ip
}

const IPV4_OCTETS = 4
const WIDE_IPV4_OCTETS = 3
const WIDE_IPV6_GROUPS = 3

/**
 * The network whose addresses most likely have one owner: the /24 of an IPv4 address, the /48 of an IPv6 address (RFC
 * 6177).
 * @param ip normalized
 */
export function wideNetworkOf(ip: string): string {
  return wideNetworkOfNetwork(networkOf(ip))
}

/** The same for a network. Other texts are returned unchanged. @param network as {@link networkOf} returns it */
export function wideNetworkOfNetwork(network: string): string {
  if (isOnOverlay(network)) return network
  return network.includes(':')
    ? network.split(':', WIDE_IPV6_GROUPS).join(':')
    : network.split('.', WIDE_IPV4_OCTETS).join('.')
}

/** Returns the first address of a network, also of a wide one. @param network as {@link networkOf} returns it */
export function addressIn(network: string): string {
  if (isOnOverlay(network)) return network
  if (network.includes(':')) return `${network}::`
  return [...network.split('.'), '0', '0', '0'].slice(0, IPV4_OCTETS).join('.')
}

/** Returns all eight groups in hexadecimal digits. @param ip normalized IPv6 address */
export function groupsOf(ip: string): string[] {
  const [left = [], right = []] = ip.split('::').map((half) => (half === '' ? [] : half.split(':')))
  const zeros = Array.from({ length: IPV6_GROUPS - left.length - right.length }, () => '0')
  return [...left, ...zeros, ...right]
}
