// `publish` for Node: as in a page, plus options that only Node has.

import { type Platform, type PublishOptions, publishOn, type Site, SvcError } from '@svc/sdk-core'
import { withHandlerGlobals } from './handler-globals.ts'
import { refuseUnknown, sharedOptions } from './known-options.ts'
import { type SiteFetch, withFetch } from './net/site-fetch.ts'
import { NODE_OPTIONS, type NodeOptions, nodePlatform } from './platform.ts'

/** NodePublishOptions are the options of `publish` in Node: those of a page, plus those that only Node has. */
export interface NodePublishOptions extends Omit<PublishOptions, 'relay'>, NodeOptions {
  /** The relay's URL: `https:`, without credentials. Required unless there is a `route`. */
  relay?: string | URL | undefined
  /**
   * The relays of a route, 2 to 4, instead of `relay`. Visitors connect to the first; the site connects to the last, and to the
   * others through that one, so that each relay sees only its neighbours on the route. All must be on one
   * overlay. It uses the native carrier, and excludes `cache`, `relays` and `discover`.
   * @default none: visitors connect to the site's own relay
   */
  route?: readonly (string | URL)[] | undefined
}

/** A NodeSite is a site with the members that only Node has. */
export interface NodeSite extends Site, SiteFetch {}

/**
 * Publishes `options.fetch` as an HTTPS site; TLS ends in this process.
 * Resolves when visitors can connect.
 * @throws SvcError with a stable `code`
 */
export async function publish(options: NodePublishOptions): Promise<NodeSite> {
  refuseUnknown(options ?? {}, [...NODE_OPTIONS, 'route'])
  return withFetch(await publishAs(options), options.ca, options.proxy)
}

async function publishAs(options: NodePublishOptions): Promise<Site> {
  const { route, relay, ...given } = options ?? {}
  const site = { ...given, fetch: withHandlerGlobals(given.fetch) }
  if (route === undefined) {
    const platform = (): Platform => ({ ...nodePlatform(options ?? {}), forAnotherRelay: platform })
    return publishOn(platform(), sharedOptions({ ...site, relay: relay! }))
  }
  if (relay !== undefined || site.relays !== undefined || site.discover !== undefined)
    throw new SvcError('invalid_option', 'route excludes relay, relays and discover')
  if (site.domains)
    throw new SvcError(
      'invalid_option',
      'route and domains exclude each other: a domain leads to the one relay that carries its visitors',
    )
  if (site.overlay)
    throw new SvcError('invalid_option', 'route and overlay exclude each other: a route names its relays')
  const { publishRouted } = await import('./hops/publish-routed.ts')
  return publishRouted(nodePlatform(options ?? {}), site, route)
}
