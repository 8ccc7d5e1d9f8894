// Public IP addresses: the only ones that untrusted parties may make a relay or SDK dial.

import { addressBytes, IPV4_BYTES } from './ip-address.ts'

/** Networks that are not globally reachable (IANA IPv4 Special-Purpose Address Registry), multicast or reserved. */
const IPV4_SPECIAL = [
  '0.0.0.0/8', // this network, unspecified
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relay anycast, deprecated
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
] as const

/** The IPv6 global unicast addresses (RFC 4291 §2.4): everything else is local, multicast or reserved. */
const IPV6_GLOBAL = '2000::/3'
/** Networks within those that are not globally reachable (IANA IPv6 Special-Purpose Address Registry). */
const IPV6_SPECIAL = [
  '2001::/23', // protocol assignments: Teredo, benchmarking, ORCHID
  '2001:db8::/32', // documentation
  '3fff::/20', // documentation
] as const

/** IPv6 networks that embed an IPv4 address, which is the host that is reached, and the byte at which it begins. */
const IPV4_CARRIERS = [
  ['::ffff:0:0/96', 12], // IPv4-mapped (RFC 4291 §2.5.5.2)
  ['64:ff9b::/96', 12], // NAT64 (RFC 6052 §2.1)
  ['2002::/16', 2], // 6to4 (RFC 3056 §2)
] as const

/**
 * Returns whether an IP address is public: not a loopback, private, link-local, shared, multicast, documentation or otherwise
 * special address, nor an IPv4-mapped, NAT64 or 6to4 form of one.
 * @param address IPv4 in four decimal numbers, or IPv6 without a zone
 * @returns false also for text that is not an IP address
 */
export function isPublicAddress(address: string): boolean {
  const bytes = addressBytes(address)
  return bytes !== undefined && isPublic(bytes)
}

function isPublic(bytes: readonly number[]): boolean {
  if (bytes.length === IPV4_BYTES) return !IPV4_SPECIAL.some((network) => isWithin(bytes, network))
  const carrier = IPV4_CARRIERS.find(([network]) => isWithin(bytes, network))
  if (carrier !== undefined) return isPublic(bytes.slice(carrier[1], carrier[1] + IPV4_BYTES))
  return isWithin(bytes, IPV6_GLOBAL) && !IPV6_SPECIAL.some((network) => isWithin(bytes, network))
}

/** @param network a network of the same address family */
function isWithin(bytes: readonly number[], network: string): boolean {
  const [first = '', length] = network.split('/')
  const prefix = Number(length)
  return addressBytes(first)!.every((byte, index) => {
    const freeBits = Math.min(8, Math.max(0, 8 * (index + 1) - prefix))
    return byte >> freeBits === bytes[index]! >> freeBits
  })
}
