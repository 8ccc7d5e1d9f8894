// Name resolution for hosts that a relay names: only public addresses are dialled, those that were looked at.

import type { LookupAddress, LookupOptions } from 'node:dns'
import { isIP } from 'node:net'
import { isPublicAddress } from '@svc/protocol'
import { SvcError } from '@svc/sdk-core'
import type { ProxyFor } from './forward-proxy.ts'
import { localhostLookup } from './localhost-lookup.ts'

/**
 * Resolves a name, in the form of `dns.lookup`, as `net.connect` takes it. Each connection resolves and checks it anew, so that
 * a name cannot lead elsewhere after it was checked.
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
 * A socket resolves no address, so that one is looked at here. A proxy resolves names itself, and where they lead cannot be looked at.
 * @throws SvcError
 */
export function requirePublicHost(url: URL, proxyFor?: ProxyFor): void {
  const { hostname } = url
  if (proxyFor?.(url) !== undefined)
    throw new SvcError(
      'relay_unreachable',
      `${hostname} is a gateway, to which no connection goes through a proxy`,
    )
  const host = hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw notPublic(host)
}

function notPublic(host: string): SvcError {
  return new SvcError('relay_unreachable', `${host} has no public address, which a gateway needs`)
}
