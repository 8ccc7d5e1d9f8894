// The check of gateways, for platforms that can see a gateway's address.

import { PATH, verifyDescriptor } from '@svc/protocol'
import type { GatewayCheck } from '../control/endpoint.ts'
import { signerOf } from '../identity/key.ts'
import { GATEWAY_CLOCK_SKEW_MS, GATEWAYS_REMEMBERED_MAX } from './limits.ts'

/**
 * Returns a check for the life of one site. It accepts a gateway whose endpoint is that of reverse sessions, and whose descriptor
 * is genuine, names a relay with an overlay at the endpoint's origin, is unexpired, and is not older than one that it accepted before.
 */
export function createGatewayCheck(): GatewayCheck {
  /** By the gateway's address: when its newest descriptor was issued, in milliseconds since the epoch. */
  const newest = new Map<string, number>()
  return async (url, value, relayNow) => {
    if (!isReverseEndpoint(url)) return false
    // The relay's clock is more often right than this machine's, but a hostile relay may set its own back.
    const now = Math.max(relayNow, Date.now() - GATEWAY_CLOCK_SKEW_MS)
    const { descriptor } = await verifyDescriptor(value, now, signerOf)
    if (!descriptor?.supports_overlay || new URL(descriptor.api_https_addr).origin !== url.origin)
      return false
    const address = descriptor.address.toLowerCase()
    const issuedAt = Date.parse(descriptor.issued_at)
    const known = newest.get(address)
    if (known !== undefined && issuedAt < known) return false
    newest.delete(address)
    newest.set(address, issuedAt)
    if (newest.size > GATEWAYS_REMEMBERED_MAX) newest.delete(newest.keys().next().value!)
    return true
  }
}

function isReverseEndpoint({ pathname, search, username, password }: URL): boolean {
  return pathname === PATH.connect && search === '' && username === '' && password === ''
}
