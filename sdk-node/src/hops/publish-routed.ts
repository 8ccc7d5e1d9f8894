// Publishes a site on a route over several relays.

import { nameOfAddress, normalizeName } from '@svc/protocol'
import {
  identityFromKey,
  type Platform,
  type PlatformSite,
  type PublishOptions,
  publishOn,
  SvcError,
} from '@svc/sdk-core'
import { isBytes } from '@svc/sdk-core/platform-objects'
import { sharedOptions } from '../known-options.ts'
import type { NodeOptions } from '../platform.ts'
import { type RouteTimes, SiteRoute } from './site-route.ts'

/** The platform and options of a site, changed for a route. */
export interface Routed {
  platform: Platform
  options: PublishOptions
  route: SiteRoute
}

/**
 * @param options without `relay`, which is the first of the route
 * @throws SvcError `invalid_option`
 */
export async function routed(
  platform: Platform,
  options: Omit<PublishOptions, 'relay'> & NodeOptions,
  relays: readonly (string | URL)[],
  times?: RouteTimes,
): Promise<Routed> {
  const { identity, carrier = 'native', ca, proxy, cache, access, invitation } = options
  const { visitorAddress = access !== undefined } = options
  if (carrier === 'websocket')
    throw new SvcError('invalid_option', 'a route has a native carrier, not a websocket')
  if (cache !== undefined) throw new SvcError('invalid_option', 'cache and route exclude each other')
  if (platform.serveRaw || platform.openDatagrams)
    throw new SvcError('invalid_option', 'a route excludes dedicated TCP and UDP ports')
  const privateKey = isBytes(identity) ? identity : await platform.loadIdentity(identity)
  const given = options.name ?? nameOfAddress(identityFromKey(privateKey).address)
  const name = normalizeName(`${given}`) ?? given
  const isMultiplexed = carrier === 'native'
  const route = new SiteRoute({
    route: relays,
    name,
    privateKey,
    ca,
    proxy,
    isMultiplexed,
    visitorAddress,
    invitation,
    times,
  })
  return {
    platform: { ...platform, ...route.platform },
    options: { ...options, identity: privateKey, relay: relays[0]! },
    route,
  }
}

/** Resolves when visitors can connect. @throws SvcError */
export async function publishRouted(...args: Parameters<typeof routed>): Promise<PlatformSite> {
  const { platform, options } = await routed(...args)
  return publishOn(platform, sharedOptions(options))
}
