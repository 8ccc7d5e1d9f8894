// The check of gateways, which only platforms need that can see at which address a gateway is.

import { PATH, verifyDescriptor } from '@svc/protocol'
import type { GatewayCheck } from '../control/endpoint.ts'
import { signerOf } from '../identity/key.ts'
import { GATEWAY_CLOCK_SKEW_MS, GATEWAYS_REMEMBERED_MAX } from './limits.ts'

/**
 * Returns a check for the life of one site. It takes a gateway whose endpoint is that of reverse sessions, and whose descriptor
 * is genuine, of a relay with an overlay at the origin of the endpoint, in time, and not older than one that it took before.
 */
export function createGatewayCheck(): GatewayCheck {
  /** By the gateway's address: when its newest descriptor was issued, in milliseconds since the epoch. */
  const newest = new Map<string, number>()
  return async (url, value, relayNow) => {
    if (!isReverseEndpoint(url)) return false
    // The relay's clock is more often right than that of this process, but a hostile relay may set its own back.
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
