// IP addresses and networks (CIDR, RFC 4632 and RFC 4291) as bytes: 4 for IPv4, 16 for IPv6.

import { addressBytes, unmappedBytes } from '@svc/protocol/ip-address'

/** A Network is a range of addresses, such as 192.0.2.0/24. */
export interface Network {
  readonly bytes: readonly number[]
  /** The length of the prefix, in bits. */
  readonly bits: number
}

/** The part of an IPv6 address that names a network, which one visitor may have whole (RFC 6177), in bytes. */
const IPV6_NETWORK_BYTES = 8

/** Returns the bytes of an address, or undefined for text that is not an address. A zone of an interface (RFC 4007 §11) does not count. */
export function parseAddress(text: string): readonly number[] | undefined {
  const [address = ''] = text.split('%', 1)
  const bytes = addressBytes(address)
  return bytes && unmappedBytes(bytes)
}

/** Returns a network, or undefined for text that is not a network. An address is a network of one. */
export function parseNetwork(text: string): Network | undefined {
  const [address = '', length, ...more] = text.trim().split('/')
  const bytes = parseAddress(address)
  if (!bytes || more.length > 0) return undefined
  const most = bytes.length * 8
  if (length === undefined) return { bytes, bits: most }
  const bits = /^\d{1,3}$/.test(length) ? Number(length) : Number.POSITIVE_INFINITY
  return bits <= most ? { bytes, bits } : undefined
}

/** Returns whether the address is in the network. */
export function isIn(address: readonly number[], { bytes, bits }: Network): boolean {
  if (address.length !== bytes.length) return false
  const whole = bits >> 3
  const rest = bits & 7
  const differs = (at: number, mask: number): boolean => ((address[at]! ^ bytes[at]!) & mask) !== 0
  for (let at = 0; at < whole; at += 1) if (differs(at, 0xff)) return false
  return rest === 0 || !differs(whole, 0xff << (8 - rest))
}

/** Returns whether a visitor may come by the lists. With one, an unknown address may not. */
export function isAdmitted(
  address: string | undefined,
  { allowIp, denyIp }: { allowIp: readonly Network[] | undefined; denyIp: readonly Network[] | undefined },
): boolean {
  if (!allowIp && !denyIp) return true
  const bytes = address === undefined ? undefined : parseAddress(address)
  if (!bytes) return false
  const isOn = (list: readonly Network[]): boolean => list.some((network) => isIn(bytes, network))
  return (!allowIp || isOn(allowIp)) && !(denyIp && isOn(denyIp))
}

/** Returns the name of the network to which an address belongs: an IPv4 address, or 64 bits of IPv6. */
export function networkOf(address: string): string {
  const bytes = parseAddress(address)
  return bytes?.slice(0, bytes.length === 4 ? 4 : IPV6_NETWORK_BYTES).join('.') ?? address
}
