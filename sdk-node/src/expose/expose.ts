// `expose`: publishes a service in this machine's network at one or several relays.

import {
  abortError,
  type FetchHandler,
  type OpenDatagrams,
  type Platform,
  type PlatformSite,
  type PublishOptions,
  publishOn,
  type Site,
  SvcError,
  signerOf,
} from '@svc/sdk-core'
import type { Gate, ShareStore } from '@svc/sdk-core/access'
import { parseDiscover, parseRelays, RelaySites } from '@svc/sdk-core/relays'
import type { Hold } from '../hold/hold.ts'
import { sharedOptions } from '../known-options.ts'
import { nodePlatform } from '../platform.ts'
import type { SiteRecording } from '../recording/record.ts'
import { parseTcpTarget } from '../target/target-address.ts'
import { serveTcpTarget } from '../target/tcp-target.ts'
import { handlerOf } from './handler.ts'
import { checkOptions, type ExposeOptions } from './options.ts'
import type { ProbedSites } from './probed-site.ts'

/** Exposure is the result of `expose`: a site for each relay. */
export interface Exposure {
  /**
   * The current sites, one for each relay that accepted it or makes it wait: those at the named relays in their order, then those
   * at discovered ones.
   */
  readonly sites: readonly PlatformSite[]
  /** The relays that did not accept the site, or did not name others at the last search, with their errors. */
  readonly failures: readonly ExposeFailure[]
  /** Resolves when the site has ended at all relays. */
  readonly ended: Promise<void>
  /** Removes it from all relays. Connected visitors get a few seconds to finish. */
  close(): Promise<void>
}

/** An ExposeFailure names a relay that did not accept the site, and says why. */
export interface ExposeFailure {
  relay: string
  error: SvcError
}

/**
 * Resolves when visitors can connect at one relay at least, and each of the others accepted the site, failed, or makes it wait.
 * @throws SvcError the failure at the first relay, when none accepts the site
 */
export function expose(options: ExposeOptions): Promise<Exposure> {
  return exposeShared(options)
}

/**
 * As `expose`.
 * @param shares keeps the share links of a site with `access`; without it they live in memory
 * @throws SvcError
 */
export async function exposeShared(options: ExposeOptions, shares?: ShareStore): Promise<Exposure> {
  checkOptions(options)
  const relays = namedRelays(options)
  const discover = parseDiscover(options.discover)
  const platform = platformOf(options)
  const { ca, proxy } = options
  const { fetch } = nodePlatform({ ca, proxy })
  const gate = await gateOf(options, shares)
  const signal = gate
    ? AbortSignal.any([gate.closed, ...(options.signal ? [options.signal] : [])])
    : options.signal
  if (gate?.knocking) showKnocks(gate.knocking, options, signal)
  const hold = await holdOf(options)
  const recording = await recordingOf(options)
  const abandoned = async (error: unknown): Promise<never> => {
    await recording?.abandon()
    throw error
  }
  const around = { gate, hold: hold?.before, recording }
  const handler = await handlerOf(options, relays[0]!, fetch, around).catch(abandoned)
  if (signal?.aborted) return abandoned(abortError(signal))
  const relaysMax = relays.length + discover
  const probed = await probesOf(options, relaysMax, (site) => sites.leave(site, suspicion(site)))
  const sites: RelaySites<PlatformSite> = new RelaySites<PlatformSite>({
    relays,
    discover,
    wanted: { tcp: options.tcp !== undefined, udp: options.udp !== undefined },
    fetch,
    signerOf,
    publish: (relay, isNamed, onSite, signal) => {
      const own = {
        relay,
        signal,
        onSite: (site: Site) => onSite((gate?.attach(site) ?? site) as PlatformSite),
      }
      const terms = { ...termsOf(options, handler, isNamed), ...own }
      return publishAt(platform(), terms, options, probed)
    },
    begun: (site, relay) => options.onSite?.(site, relay.origin),
  })
  void sites.ended.then(() => {
    gate?.knocking?.close()
    hold?.close()
    return recording?.close()
  })
  return await started(sites, signal).catch(abandoned)
}

/**
 * Loads the code of `access` only when needed.
 * @throws SvcError `invalid_option` or `oidc_unavailable`
 */
async function gateOf(
  { access, visitorAddress }: ExposeOptions,
  shares: ShareStore | undefined,
): Promise<Gate | undefined> {
  if (!access) return undefined
  const { openGate, refuseWithoutAddress } = await import('@svc/sdk-core/access')
  if (visitorAddress === false) refuseWithoutAddress(access)
  const { scrypt } = await import('../scrypt.ts')
  return openGate(access, scrypt, shares)
}

/**
 * Loads the code of `record` only when needed.
 * @throws SvcError `invalid_option`
 */
async function recordingOf({ record, onTargetError }: ExposeOptions): Promise<SiteRecording | undefined> {
  if (record === undefined) return undefined
  const { recordIn } = await import('../recording/record.ts')
  return recordIn(record, onTargetError ?? (() => {}))
}

/**
 * Loads the code of `hold` only when needed.
 * @throws SvcError `invalid_option`
 */
async function holdOf({ hold, onHold, onTargetError }: ExposeOptions): Promise<Hold | undefined> {
  if (!hold) return undefined
  const { Hold } = await import('../hold/hold.ts')
  return new Hold(hold, onHold ?? (() => {}), onTargetError ?? (() => {}))
}

/** Tells the caller who knocks. When the site ends, nobody waits any more. */
function showKnocks(
  knocking: NonNullable<Gate['knocking']>,
  { onKnock }: ExposeOptions,
  signal: AbortSignal | undefined,
): void {
  if (onKnock) knocking.onKnock = onKnock
  signal?.addEventListener('abort', () => knocking.close(), { once: true })
}

/** @throws SvcError `invalid_option` */
function namedRelays({ relay, relays = [] }: ExposeOptions): URL[] {
  const given = [...(relay === undefined ? [] : [relay]), ...relays]
  if (given.length === 0) throw new SvcError('invalid_option', 'a relay is needed')
  return parseRelays(given)
}

/**
 * Returns a factory of platforms: each relay gets its own, so that they do not affect each other.
 * @throws SvcError `invalid_option` for an invalid target
 */
function platformOf(options: ExposeOptions): () => Platform {
  const { ca, proxy, identity, identityPath, overlay, allowLocalGateways, carrier = 'native' } = options
  const { http, fetch, routes, proxyProtocol, onTargetError: onError = () => {} } = options
  const visitorAddress = wantsAddresses(options)
  const [tls, tcp, udp] = (['tls', 'tcp', 'udp'] as const).map((kind) => {
    const target = options[kind]
    return target === undefined ? undefined : parseTcpTarget(kind, target)
  })
  return () => ({
    ...nodePlatform({ ca, proxy, identity, identityPath, carrier, overlay, allowLocalGateways }),
    needsCertificate: [http, fetch, routes, tls, options.rules?.mocks].some((target) => target !== undefined),
    ...(tls && { serveTls: serveTcpTarget(tls, onError, proxyProtocol) }),
    ...(tcp && { serveRaw: serveTcpTarget(tcp, onError, proxyProtocol) }),
    ...(udp && {
      openDatagrams: openDatagrams(udp, { ca, onError, visitorAddress, onFlow: options.onUdpFlow }),
    }),
  })
}

/** Loads the code for datagrams only when needed. */
function openDatagrams(
  ...options: Parameters<typeof import('../datagram/datagram-carrier.ts').datagramCarrier>
): OpenDatagrams {
  return async (...args) => {
    const { datagramCarrier } = await import('../datagram/datagram-carrier.ts')
    return datagramCarrier(...options)(...args)
  }
}

/**
 * Returns the options of `publish` that all relays share, without `access` and `rules`, which the handler has already.
 * @param isNamed whether the caller named the relay, which then may store, and so read, files, use an invitation up, and have the domains
 */
function termsOf(
  options: ExposeOptions,
  fetch: FetchHandler,
  isNamed: boolean,
): Omit<PublishOptions, 'relay'> {
  const { tlsMinVersion: minVersion, relays, discover, access, rules, ...given } = options
  const { cache, invitation, domains, acme, ...others } = given
  const { clientCertificates, ...rest } = others
  const tls = { minVersion, clientCertificates }
  const visitorAddress = wantsAddresses(options)
  const shared = sharedOptions(rest as unknown as PublishOptions)
  return { ...shared, fetch, tls, visitorAddress, ...(isNamed && { cache, invitation, domains, acme }) }
}

function wantsAddresses({ access, via, visitorAddress }: ExposeOptions): boolean {
  // Access depends on the visitor's network, also over a route.
  return visitorAddress ?? (access !== undefined || via === undefined)
}

/**
 * Publishes at one relay, over a route and with a self-probe if the options ask for them.
 * @param probed undefined without a self-probe
 */
async function publishAt(
  direct: Platform,
  terms: PublishOptions,
  { ca, proxy, via, carrier }: ExposeOptions,
  probed: ProbedSites | undefined,
): Promise<PlatformSite> {
  const routed = via && (await onRoute(direct, { ...terms, ca, proxy, carrier }, [terms.relay, ...via]))
  const { platform, options } = routed ?? { platform: direct, options: terms }
  if (!probed) return publishOn(platform, sharedOptions(options))
  return probed.publish(platform, options, { ca, proxy, route: routed?.route })
}

/**
 * Loads the code of the self-probe only when needed.
 * @param left called with a site whose relay reads its traffic
 */
async function probesOf(
  options: ExposeOptions,
  relays: number,
  left: (site: PlatformSite) => void,
): Promise<ProbedSites | undefined> {
  const { clientCertificates, onProbe, banMitm = false } = options
  // The site has no client certificate with which to visit itself.
  const isClosed = clientCertificates !== undefined && clientCertificates.required !== false
  if (isClosed || (!onProbe && !banMitm)) return undefined
  const { ProbedSites } = await import('./probed-site.ts')
  return new ProbedSites(options, (site, verdict, domain) => {
    onProbe?.({ site, verdict, domain })
    // Of several relays, a domain may lead to any.
    if (banMitm && verdict === 'suspected' && (domain === undefined || relays === 1)) left(site)
  })
}

/** Loads the code for routes over relays only when needed. */
async function onRoute(
  ...args: Parameters<typeof import('../hops/publish-routed.ts').routed>
): Promise<import('../hops/publish-routed.ts').Routed> {
  const { routed } = await import('../hops/publish-routed.ts')
  return routed(...args)
}

function suspicion({ canonicalUrl }: PlatformSite): SvcError {
  const { protocol, host } = new URL(canonicalUrl)
  const relay = `${protocol}//${host.slice(host.indexOf('.') + 1)}`
  return new SvcError('relay_suspected', `${relay} answers visitors itself and can read their traffic`)
}

/** Resolves with the exposure when it is online and each relay has decided. @throws SvcError */
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
