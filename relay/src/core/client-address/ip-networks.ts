// Normalizes networks of IP addresses, and finds the networks of a set that an address is in.

import { isIPv4 } from 'node:net'
import { groupsOf, IP_MAX_CHARS, IPV6_NETWORK_BITS, isOnOverlay, normalizeIp } from './ip-address.ts'

/** An IPv6 address with a prefix length, in UTF-16 code units. */
export const NETWORK_MAX_CHARS: number = IP_MAX_CHARS + 4
const IPV4_BITS = 32
const IPV6_BITS = 128
/** Bits before an IPv4 address that is mapped into IPv6. */
const MAPPED_BITS = 96
const OCTET_BITS = 8
const GROUP_BITS = 16

interface Network {
  isIpv4: boolean
  /** Prefix length in bits. */
  prefix: number
  /** The bits of the prefix as a number. */
  bits: bigint
}

/**
 * The network in one spelling: `192.0.2.1`, `192.0.2.0/24`, `2001:db8::/64`. An IPv6 address without a length means its
 * /64, because a subscriber has all of it (RFC 6177); a single one is `/128`, as that of a
 * relay on the overlay always is. Bits after the prefix are cleared.
 * @param text an address, or one with a prefix length (RFC 4632 §3.1, RFC 4291 §2.3)
 * @returns undefined when it is neither
 */
export function normalizeNetwork(text: string): string | undefined {
  const slash = text.indexOf('/')
  const address = normalizeIp(slash < 0 ? text : text.slice(0, slash))
  if (address === undefined) return undefined
  const isMapped = isIPv4(address) && text.includes(':')
  const prefix = slash < 0 ? defaultPrefix(address) : prefixOf(text.slice(slash + 1), isMapped)
  return prefix !== undefined && prefix <= sizeOf(address) && prefix >= 0
    ? format(address, prefix)
    : undefined
}

/** A set of networks in the form of {@link normalizeNetwork}. A lookup takes one step for each prefix length that occurs. */
export class NetworkSet {
  /** Prefix length → leading bits → the network. */
  readonly #ipv4 = new Map<number, Map<bigint, string>>()
  readonly #ipv6 = new Map<number, Map<bigint, string>>()

  constructor(networks: Iterable<string>) {
    for (const text of networks) {
      const { isIpv4, prefix, bits } = parse(text)
      const lengths = isIpv4 ? this.#ipv4 : this.#ipv6
      const known = lengths.get(prefix) ?? new Map<bigint, string>()
      lengths.set(prefix, known.set(bits, text))
    }
  }

  /** @param ip normalized */
  has(ip: string): boolean {
    return this.#find(ip).next().done !== true
  }

  /** Returns every network that the address is in. @param ip normalized */
  covering(ip: string): string[] {
    return [...this.#find(ip)]
  }

  *#find(ip: string): Generator<string> {
    const lengths = ip.includes(':') ? this.#ipv6 : this.#ipv4
    if (lengths.size === 0) return
    const value = bitsOf(ip)
    const size = sizeOf(ip)
    for (const [prefix, known] of lengths) {
      const network = known.get(value >> BigInt(size - prefix))
      if (network !== undefined) yield network
    }
  }
}

function prefixOf(text: string, isMapped: boolean): number | undefined {
  if (!/^(?:0|[1-9]\d{0,2})$/.test(text)) return undefined
  return Number(text) - (isMapped ? MAPPED_BITS : 0)
}

function defaultPrefix(address: string): number {
  if (isIPv4(address)) return IPV4_BITS
  return isOnOverlay(address) ? IPV6_BITS : IPV6_NETWORK_BITS
}

function sizeOf(address: string): number {
  return address.includes(':') ? IPV6_BITS : IPV4_BITS
}

function format(address: string, prefix: number): string {
  const size = sizeOf(address)
  const rest = BigInt(size - prefix)
  const first = addressOf((bitsOf(address) >> rest) << rest, size)
  return size === IPV4_BITS && prefix === IPV4_BITS ? first : `${first}/${prefix}`
}

function parse(text: string): Network {
  const [address = '', length] = text.split('/')
  const prefix = length === undefined ? defaultPrefix(address) : Number(length)
  const bits = bitsOf(address) >> BigInt(sizeOf(address) - prefix)
  return { isIpv4: isIPv4(address), prefix, bits }
}

/** The bits of a normalized address as a number. */
function bitsOf(ip: string): bigint {
  if (!ip.includes(':')) {
    const value = ip.split('.').reduce((sum, octet) => sum * 2 ** OCTET_BITS + Number(octet), 0)
    return BigInt(value)
  }
  return BigInt(
    `0x${groupsOf(ip)
      .map((group) => group.padStart(GROUP_BITS / 4, '0'))
      .join('')}`,
  )
}

function addressOf(value: bigint, size: number): string {
  const width = size === IPV4_BITS ? OCTET_BITS : GROUP_BITS
  const parts = Array.from({ length: size / width }, (_, index) =>
    BigInt.asUintN(width, value >> BigInt(size - width * (index + 1))),
  )
  if (size === IPV4_BITS) return parts.join('.')
  return normalizeIp(parts.map((group) => group.toString(16)).join(':'))!
}
