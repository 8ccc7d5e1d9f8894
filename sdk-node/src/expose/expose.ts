// `expose`: puts a service of this machine's network online, at the addresses of one relay or several.

import {
  abortError,
  type FetchHandler,
  type OpenDatagrams,
  type Platform,
  type PlatformSite,
  type PublishOptions,
  publishOn,
  SvcError,
  signerOf,
} from '@svc/sdk-core'
import { parseDiscover, parseRelays, RelaySites } from '@svc/sdk-core/relays'
import { sharedOptions } from '../known-options.ts'
import { nodePlatform } from '../platform.ts'
import { parseTcpTarget } from '../target/target-address.ts'
import { serveTcpTarget } from '../target/tcp-target.ts'
import { handlerOf } from './handler.ts'
import { checkOptions, type ExposeOptions } from './options.ts'

/** Exposure is what `expose` put online: a site for each relay. */
export interface Exposure {
  /**
   * The sites at this time, one for each relay that took it or makes it wait: those at the named relays in their order, then those
   * at discovered ones.
   */
  readonly sites: readonly PlatformSite[]
  /** The relays that do not have the site, or that named no other relays at the last search, with the error of each. */
  readonly failures: readonly ExposeFailure[]
  /** Resolves when no relay has it any more and none will. */
  readonly ended: Promise<void>
  /** Takes it off all relays. Visitors who are connected get a few seconds to finish. */
  close(): Promise<void>
}

/** An ExposeFailure names a relay that did not take the site, and says why. */
export interface ExposeFailure {
  relay: string
  error: SvcError
}

/**
 * Resolves when visitors can come by one relay at least, and each of the others took the site, failed, or makes it wait.
 * @throws SvcError the failure at the first relay, when it failed at all
 */
export async function expose(options: ExposeOptions): Promise<Exposure> {
  checkOptions(options)
  const relays = namedRelays(options)
  const discover = parseDiscover(options.discover)
  const platform = platformOf(options)
  const { ca, proxy, signal } = options
  const { fetch } = nodePlatform({ ca, proxy })
  const handler = await handlerOf(options, relays[0]!, fetch)
  if (signal?.aborted) throw abortError(signal)
  const sites: RelaySites<PlatformSite> = new RelaySites<PlatformSite>({
    relays,
    discover,
    wanted: { tcp: options.tcp !== undefined, udp: options.udp !== undefined },
    fetch,
    signerOf,
    publish: (relay, isNamed, onSite, signal) => {
      const own = { relay, signal, onSite: (site: unknown) => onSite(site as PlatformSite) }
      const terms = { ...termsOf(options, handler, isNamed), ...own }
      return publishAt(platform(), terms, options, (site) => sites.leave(site, suspicion(relay)))
    },
    begun: (site, relay) => options.onSite?.(site, relay.origin),
  })
  return await started(sites, signal)
}

/** @throws SvcError `invalid_option` */
function namedRelays({ relay, relays = [] }: ExposeOptions): URL[] {
  const given = [...(relay === undefined ? [] : [relay]), ...relays]
  if (given.length === 0) throw new SvcError('invalid_option', 'a relay is needed')
  return parseRelays(given)
}

/**
 * Returns what makes the platform of a site: each relay has its own, so that they do not affect each other.
 * @throws SvcError `invalid_option` for a target that is not one
 */
function platformOf(options: ExposeOptions): () => Platform {
  const { ca, proxy, identity, identityPath, overlay, allowLocalGateways, carrier = 'native' } = options
  const { http, fetch, routes, onTargetError: onError = () => {} } = options
  const [tls, tcp, udp] = (['tls', 'tcp', 'udp'] as const).map((kind) => {
    const target = options[kind]
    return target === undefined ? undefined : parseTcpTarget(kind, target)
  })
  return () => ({
    ...nodePlatform({ ca, proxy, identity, identityPath, carrier, overlay, allowLocalGateways }),
    needsCertificate: [http, fetch, routes, tls].some((target) => target !== undefined),
    ...(tls && { serveTls: serveTcpTarget(tls, onError) }),
    ...(tcp && { serveRaw: serveTcpTarget(tcp, onError) }),
    ...(udp && { openDatagrams: openDatagrams(udp, { ca, onError }) }),
  })
}

/** The code of datagrams is loaded when the caller asked for them. */
function openDatagrams(
  ...options: Parameters<typeof import('../datagram/datagram-carrier.ts').datagramCarrier>
): OpenDatagrams {
  return async (...args) => {
    const { datagramCarrier } = await import('../datagram/datagram-carrier.ts')
    return datagramCarrier(...options)(...args)
  }
}

/**
 * Returns the options of `publish` for each relay, but those that differ.
 * @param isNamed the caller named the relay: it may store files, which it can read
 */
function termsOf(
  options: ExposeOptions,
  fetch: FetchHandler,
  isNamed: boolean,
): Omit<PublishOptions, 'relay'> {
  const { tlsMinVersion: minVersion, cache, relays, discover, ...others } = options
  const tls = { minVersion }
  return { ...sharedOptions(others as unknown as PublishOptions), fetch, tls, ...(isNamed && { cache }) }
}

/** Publishes at one relay, on the route that the caller asked for, with a self-probe when it asked for one. */
async function publishAt(
  direct: Platform,
  terms: PublishOptions,
  { ca, proxy, via, onProbe, carrier, banMitm = false }: ExposeOptions,
  suspected: (site: PlatformSite) => void,
): Promise<PlatformSite> {
  const routed = via && (await onRoute(direct, { ...terms, ca, proxy, carrier }, [terms.relay, ...via]))
  const { platform, options } = routed ?? { platform: direct, options: terms }
  if (!onProbe && !banMitm) return publishOn(platform, sharedOptions(options))
  const { publishProbed } = await import('./probed-site.ts')
  return publishProbed(platform, options, { ca, proxy, route: routed?.route }, (site, verdict) => {
    onProbe?.({ site, verdict })
    if (banMitm && verdict === 'suspected') suspected(site)
  })
}

/** The code of routes over relays is loaded when the caller asked for one. */
async function onRoute(
  ...args: Parameters<typeof import('../hops/publish-routed.ts').routed>
): Promise<import('../hops/publish-routed.ts').Routed> {
  const { routed } = await import('../hops/publish-routed.ts')
  return routed(...args)
}

function suspicion({ origin }: URL): SvcError {
  return new SvcError(
    'relay_suspected',
    `${origin} answers visitors itself: whatever passes there can be read`,
  )
}

/** Resolves with the exposure when it is online, and each of its relays has decided. @throws SvcError */
async function started(sites: RelaySites<PlatformSite>, signal: AbortSignal | undefined): Promise<Exposure> {
  const close = (): Promise<void> => sites.close()
  signal?.addEventListener('abort', close, { once: true })
  const ended = sites.ended.then(() => signal?.removeEventListener('abort', close))
  await sites.start()
  await sites.settled
  return {
    get sites() {
      return sites.sites
    },
    get failures() {
      return sites.failures
    },
    ended,
    close,
  }
}
