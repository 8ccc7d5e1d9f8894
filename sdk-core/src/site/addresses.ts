// Where visitors find a site: what its lease says, as URLs and addresses.

import type { Registration } from '../control/registration.ts'

export interface Addresses {
  /** By the friendly hostname or, when that was not granted, by the canonical one. */
  url: string
  canonicalUrl: string
  /** `host:port` of the dedicated ports. */
  tcpAddress: string | undefined
  udpAddress: string | undefined
}

export const NO_ADDRESSES: Addresses = {
  url: '',
  canonicalUrl: '',
  tcpAddress: undefined,
  udpAddress: undefined,
}

/** @param portSuffix `:port` of the relay, empty when that is 443 */
export function addressesOf(
  { hostname, canonicalHostname, tcpAddress, udpAddress }: Registration,
  portSuffix: string,
): Addresses {
  const canonicalUrl = `https://${canonicalHostname}${portSuffix}`
  const url = hostname === '' ? canonicalUrl : `https://${hostname}${portSuffix}`
  return { url, canonicalUrl, tcpAddress, udpAddress }
}
