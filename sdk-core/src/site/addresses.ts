// The URLs and addresses at which visitors find a site, from its lease.

import type { Registration } from '../control/lease.ts'

export interface Addresses {
  /** The site's URL, with its friendly hostname or, when the relay did not grant that, its canonical one. */
  url: string
  canonicalUrl: string
  /** `host:port` of the dedicated TCP port, when the lease has one. */
  tcpAddress: string | undefined
  udpAddress: string | undefined
}

export const NO_ADDRESSES: Addresses = {
  url: '',
  canonicalUrl: '',
  tcpAddress: undefined,
  udpAddress: undefined,
}

/**
 * The URLs and addresses of a lease.
 * @param portSuffix `:port` of the relay, empty when that is 443
 */
export function addressesOf(
  { hostname, canonicalHostname, tcpAddress, udpAddress }: Registration,
  portSuffix: string,
): Addresses {
  const canonicalUrl = `https://${canonicalHostname}${portSuffix}`
  const url = hostname === '' ? canonicalUrl : `https://${hostname}${portSuffix}`
  return { url, canonicalUrl, tcpAddress, udpAddress }
}
