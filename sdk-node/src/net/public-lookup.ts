// DNS lookup for hosts that a relay names: only checked, public addresses are dialed.

import type { LookupAddress, LookupOptions } from 'node:dns'
import { isIP } from 'node:net'
import { isPublicAddress } from '@svc/protocol'
import { SvcError } from '@svc/sdk-core'
import type { ProxyFor } from './forward-proxy.ts'
import { localhostLookup } from './localhost-lookup.ts'

/**
 * Resolves a name, with the signature of `dns.lookup`, for `net.connect`. Each connection resolves and checks it again, so that
 * the address cannot change after the check.
 */
export function publicLookup(
  hostname: string,
  options: LookupOptions,
  callback: Parameters<typeof localhostLookup>[2],
): void {
  localhostLookup(hostname, { ...options, all: true }, (error, found) => {
    if (error) return callback(error, [])
    const addresses = (found as LookupAddress[]).filter(({ address }) => isPublicAddress(address))
    const [first] = addresses
    if (first === undefined) callback(notPublic(hostname), [])
    else if (options.all) callback(null, addresses)
    else callback(null, first.address, first.family)
  })
}

/**
 * Checks what the lookup cannot: sockets do not look up IP addresses, and a proxy resolves names itself, out of sight.
 * @throws SvcError
 */
export function requirePublicHost(url: URL, proxyFor?: ProxyFor): void {
  const { hostname } = url
  if (proxyFor?.(url) !== undefined)
    throw new SvcError(
      'relay_unreachable',
      `${hostname} is a gateway, which cannot be reached through a proxy`,
    )
  const host = hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw notPublic(host)
}

function notPublic(host: string): SvcError {
  return new SvcError('relay_unreachable', `${host} has no public address, which a gateway needs`)
}
