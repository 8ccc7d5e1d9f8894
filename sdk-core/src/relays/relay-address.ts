// Tells whether a relay's address is local, and its network, without DNS, which a page does not have.

import { isPublicAddress } from '@svc/protocol'

const IPV4 = /^\d+\.\d+\.\d+\.\d+$/
const LOCAL_NAME = /(?:^|\.)localhost\.?$/
/** The number of labels of a registrable domain: the last two of `a.b.example.com`. */
const REGISTRABLE_LABELS = 2
/** The groups of an IPv6 /48, and the digits of the next one that a /56 has. */
const IPV6_GROUPS = 8
const IPV6_NETWORK_DIGITS = 14

/** Returns whether the host is a non-public address, or `localhost` or below it. It cannot judge other names. */
export function isLocal({ hostname }: URL): boolean {
  const address = addressOf(hostname)
  return address === undefined ? LOCAL_NAME.test(hostname) : !isPublicAddress(address)
}

/**
 * The network of a relay: the /24 of an IPv4 address, the /56 of an IPv6 address, or the last two labels of the name. Under
 * suffixes such as `co.uk`, relays of different operators count as one network.
 */
export function networkOf({ hostname }: URL): string {
  const address = addressOf(hostname)
  if (address === undefined) return hostname.split('.').slice(-REGISTRABLE_LABELS).join('.')
  if (IPV4.test(address)) return address.slice(0, address.lastIndexOf('.'))
  return digitsOf(address).slice(0, IPV6_NETWORK_DIGITS)
}

/** Returns the IP address of a host as the URL standard writes it; undefined for a name. */
function addressOf(hostname: string): string | undefined {
  if (hostname.startsWith('[')) return hostname.slice(1, -1)
  return IPV4.test(hostname) ? hostname : undefined
}

/** Returns the 32 digits of an IPv6 address, which may be shortened by `::`. */
function digitsOf(address: string): string {
  const [left = [], right = []] = address
    .split('::')
    .map((half) => half.split(':').filter((group) => group !== ''))
  const zeros = new Array<string>(IPV6_GROUPS - left.length - right.length).fill('0')
  return [...left, ...zeros, ...right].map((group) => group.padStart(4, '0')).join('')
}
