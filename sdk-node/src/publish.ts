// `publish` for Node: the same as in a page, with the options that only Node has.

import { type Platform, type PublishOptions, publishOn, type Site, SvcError } from '@svc/sdk-core'
import { withHandlerGlobals } from './handler-globals.ts'
import { refuseUnknown, sharedOptions } from './known-options.ts'
import { type SiteFetch, withFetch } from './net/site-fetch.ts'
import { NODE_OPTIONS, type NodeOptions, nodePlatform } from './platform.ts'

/** NodePublishOptions are the options of `publish` in Node: those of a page, and what only Node has. */
export interface NodePublishOptions extends Omit<PublishOptions, 'relay'>, NodeOptions {
  /** The relay's URL: `https:`, without credentials. It is needed unless there is a `route`. */
  relay?: string | URL | undefined
  /**
   * The relays of a route, 2 to 4, in place of `relay`. Visitors come to the first; the site connects to the last, and to the
   * others through that one, so that each relay sees its neighbours on the route and no others. All of them have to be on one
   * overlay. It takes the native carrier, and goes without `cache`, `relays` and `discover`.
   * @default none: visitors come to the relay that the site connects to
   */
  route?: readonly (string | URL)[] | undefined
}

/** A NodeSite is a site with what it has in Node alone. */
export interface NodeSite extends Site, SiteFetch {}

/**
 * Publishes `options.fetch` as an HTTPS site; TLS ends in this process.
 * Resolves when visitors can come.
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
  if (site.overlay)
    throw new SvcError('invalid_option', 'route and overlay exclude each other: a route names its relays')
  const { publishRouted } = await import('./hops/publish-routed.ts')
  return publishRouted(nodePlatform(options ?? {}), site, route)
}
