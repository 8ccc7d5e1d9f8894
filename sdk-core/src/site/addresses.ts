// The URLs and addresses at which visitors find a site, from its lease.

import type { Registration } from '../control/lease.ts'

export interface Addresses {
  /** The site's URL, with its friendly hostname or, when the relay did not grant that, its canonical one. */
  url: string
  canonicalUrl: string
  /** The relay's `/go/` link that leads to {@link url}; undefined at a relay without such links. */
  shareUrl?: string | undefined
  /** `host:port` of the dedicated TCP port, when the lease has one. */
  tcpAddress?: string | undefined
  udpAddress?: string | undefined
}

export const NO_ADDRESSES: Addresses = {
  url: '',
  canonicalUrl: '',
}

/**
 * The URLs and addresses of a lease.
 * @param portSuffix `:port` of the relay, empty when that is 443
 */
export function addressesOf(
  { hostname, canonicalHostname, tcpAddress, udpAddress, extensions }: Registration,
  portSuffix: string,
): Addresses {
  const canonicalUrl = `https://${canonicalHostname}${portSuffix}`
  const url = `https://${hostname || canonicalHostname}${portSuffix}`
  // A site's hostname is one label below the relay's.
  const shareUrl = extensions.has('go') ? url.replace(/^(.{8})([^.]+)\.(.+)/, '$1$3/go/$2') : undefined
  return { url, canonicalUrl, shareUrl, tcpAddress, udpAddress }
}
