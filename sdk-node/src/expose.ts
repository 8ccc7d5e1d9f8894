// `expose`: puts a service of this machine's network online, at the addresses of one relay or several.

import type { FetchHandler, PublishOptions } from '@svc/sdk-core'
import {
  type Admit,
  abortError,
  type OpenDatagrams,
  type Platform,
  type PlatformSite,
  publishOn,
  SvcError,
  signerOf,
} from '@svc/sdk-core'
import type { PaidOptions, WalletOptions } from '@svc/sdk-core/handlers'
import { parseDiscover, parseRelays, RelaySites } from '@svc/sdk-core/relays'
import { withHandlerGlobals } from './handler-globals.ts'
import { refuseUnknown, sharedOptions } from './known-options.ts'
import { openThrough, proxyChoice } from './net/forward-proxy.ts'
import { localhostLookup } from './net/localhost-lookup.ts'
import { NODE_OPTIONS, type NodeOptions, nodePlatform } from './platform.ts'
import type { ProbeVerdict, SelfProbe } from './probe/self-probe.ts'
import { httpTarget } from './target/http-target.ts'
import { type OnRequest, reportingRequests } from './target/request-reports.ts'
import type { Routes } from './target/routes.ts'
import { parseHttpTarget, parseTcpTarget } from './target/target-address.ts'
import type { HostHeader } from './target/target-origin.ts'
import { serveTcpTarget } from './target/tcp-target.ts'

/**
 * ExposeOptions are the options of `expose`: a target, a relay, and those of `publish` that fit.
 * @see PublishOptions
 */
export interface ExposeOptions
  extends Omit<PublishOptions, 'relay' | 'relays' | 'discover' | 'fetch' | 'tls' | 'onSite' | 'identity'>,
    NodeOptions {
  /**
   * A secp256k1 private key of 32 bytes.
   * @default the key of the file at `identityPath`
   */
  identity?: Uint8Array | undefined
  /** The relay's address, such as `https://relay.example`. It is one more of `relays`. */
  relay?: string | URL | undefined
  /** Addresses of several relays: each gives the site a URL of its own, and the SDK keeps the connection to each by itself. */
  relays?: readonly (string | URL)[] | undefined
  /**
   * Asks the named relays for others, and keeps the site online at up to this many in addition: a whole number from 0 to 8. Those
   * that are near and not busy come first, and a relay that fails is replaced by the next.
   * @default 0
   */
  discover?: number | undefined
  /**
   * One to three relays behind `relay`, which then is the only one. Visitors come to `relay`, which passes them on from one to the
   * next; the site connects to the last. So each relay sees its neighbours and no others. All have to be on one overlay.
   * @default none: the site connects to `relay`
   */
  via?: readonly (string | URL)[] | undefined
  /**
   * A local HTTP server: a port, `host:port`, a URL, or a Unix socket as `unix:/run/app.sock`. TLS ends in the SDK, and WebSockets are
   * passed on. Calls of gRPC go to any of them over HTTP/2; `grpc://50051`, or `h2c://`, is asked for everything over HTTP/2.
   */
  http?: number | string | URL | undefined
  /** A handler in this process, in place of `http`. */
  fetch?: FetchHandler | undefined
  /** Several targets, by path or host; `http` or `fetch` answers the other requests. */
  routes?: Routes | undefined
  /**
   * Lets in only visitors who sign in with a wallet of the list; the target finds the address in the field `X-Svc-Wallet`. It
   * excludes `tls`, `tcp`, `udp` and `cache`, with which visitors would pass it by.
   * @default everybody comes in
   */
  walletOnly?: WalletOptions | undefined
  /**
   * Paths that visitors pay for, by x402, at whichever target answers there. The default facilitator is that of the first relay.
   * @default none: all is free
   */
  paid?: PaidOptions | undefined
  /** A local TLS server, in place of `http`: it gets the visitors' TLS as it is, and shows its own certificate. */
  tls?: number | string | undefined
  /** A local TCP service, at a dedicated port of the relay. */
  tcp?: number | string | undefined
  /** A local UDP service, at a dedicated port of the relay. It sees each visitor as a separate client. */
  udp?: number | string | undefined
  /**
   * PEM of the authority that checks the certificate of an `https:` target.
   * @default the system's authorities
   */
  targetCa?: string | Buffer | undefined
  /**
   * The name that the certificate of an `https:` target is for.
   * @default the host of its URL
   */
  targetServerName?: string | undefined
  /**
   * The oldest version of TLS that visitors may speak. `TLSv1.2` takes effect once the site has a certificate of its own.
   * @default TLSv1.3
   */
  tlsMinVersion?: 'TLSv1.2' | 'TLSv1.3' | undefined
  /**
   * The host that a local HTTP server is told, and with it the origin that it believes to be its own: that of visitors
   * (`'preserve'`), that of the server's address (`'rewrite'`), or one such as `'app.test:8080'`.
   * @default `'preserve'`, and `'rewrite'` from the time on at which the server turns out to refuse the host of visitors
   */
  host?: HostHeader | undefined
  /**
   * Called with the site of each relay before it connects, since a relay may make it wait, and with the relay's origin. With
   * `discover` it is called for each relay that is tried later as well; the state of the site says when it is gone.
   */
  onSite?: ((site: PlatformSite, relay: string) => void) | undefined
  /**
   * Called with each verdict of the self-probe. When it is set, the site visits itself now and then, to see whether something ends
   * TLS on the way. It visits from its own address, which a relay can spare: `not_seen_from_here` is no proof for other visitors.
   */
  onProbe?: ((report: ProbeReport) => void) | undefined
  /**
   * Leaves a relay that the self-probe caught at reading what passes; it does not catch one that spares the site's own visits. With
   * `discover`, another relay takes its place. When it is false, the SDK only reports the verdict. It excludes `cache`, with which the
   * site trusts the relay on purpose.
   * @default false
   */
  banMitm?: boolean | undefined
  /**
   * Called with the error of a local service that does not answer, once for each visitor that it fails, and with `host_refused` when
   * it turned out to refuse the host of visitors.
   */
  onTargetError?: ((error: SvcError) => void) | undefined
  /** Called with a report of each request that was answered. */
  onRequest?: OnRequest | undefined
}

type OwnOption = Exclude<keyof ExposeOptions, keyof PublishOptions | keyof NodeOptions>

const OWN_OPTIONS = Object.keys({
  via: true,
  http: true,
  routes: true,
  walletOnly: true,
  paid: true,
  tcp: true,
  udp: true,
  targetCa: true,
  targetServerName: true,
  tlsMinVersion: true,
  host: true,
  onProbe: true,
  banMitm: true,
  onTargetError: true,
  onRequest: true,
} satisfies Record<OwnOption, true>).concat(NODE_OPTIONS)

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

/** ProbeReport is what a self-probe saw at a site's relay. */
export interface ProbeReport {
  site: PlatformSite
  verdict: ProbeVerdict
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
  const {
    relay,
    relays = [],
    discover,
    http,
    fetch,
    routes,
    paid,
    tls,
    tcp,
    udp,
    targetCa,
    targetServerName,
    tlsMinVersion,
    host,
    onTargetError,
    onRequest,
    ca,
    proxy,
    identityPath,
    onSite,
    signal,
    via,
    walletOnly,
    ...site
  } = options
  const onError = onTargetError ?? (() => {})
  refuseUnknown(options, OWN_OPTIONS)
  requireOne(options)
  requireFitting(options)
  const given = [...(relay === undefined ? [] : [relay]), ...relays]
  if (given.length === 0) throw new SvcError('invalid_option', 'a relay is needed')
  const known = parseRelays(given)
  const count = parseDiscover(discover)
  const targets = {
    tls: tls === undefined ? undefined : parseTcpTarget('tls', tls),
    tcp: tcp === undefined ? undefined : parseTcpTarget('tcp', tcp),
    udp: udp === undefined ? undefined : parseTcpTarget('udp', udp),
  }
  const hasWeb = [http, fetch, routes, tls].some((target) => target !== undefined)
  // each relay has its own platform: they do not affect each other
  const platform = (): Platform => ({
    ...nodePlatform({
      ca,
      proxy,
      identity: options.identity,
      identityPath,
      carrier: options.carrier ?? 'native',
      overlay: options.overlay,
      allowLocalGateways: options.allowLocalGateways,
    }),
    needsCertificate: hasWeb,
    ...(targets.tls && { serveTls: serveTcpTarget(targets.tls, onError) }),
    ...(targets.tcp && { serveRaw: serveTcpTarget(targets.tcp, onError) }),
    ...(targets.udp && { openDatagrams: openDatagrams(targets.udp, { ca, onError }) }),
  })
  const target = { ca: targetCa, serverName: targetServerName, host, onError }
  const whole =
    http === undefined
      ? fetch
        ? withHandlerGlobals(fetch)
        : nothingHere
      : httpTarget(parseHttpTarget(http), target)
  const open = routes ? await routed(routes, whole, target) : whole
  const sold = paid ? await priced(open, paid, known[0]!, nodePlatform({ ca, proxy }).fetch) : open
  const handler = reportingRequests(onRequest, walletOnly ? await guarded(sold, walletOnly) : sold)
  if (signal?.aborted) throw abortError(signal)
  const sites: RelaySites<PlatformSite> = new RelaySites<PlatformSite>({
    relays: known,
    discover: count,
    wanted: { tcp: tcp !== undefined, udp: udp !== undefined },
    fetch: nodePlatform({ ca, proxy }).fetch,
    signerOf,
    publish: (relay, isNamed, onSite, signal) => {
      const { cache, ...others } = site
      // stored files can be read by the relay: none gets them that the caller did not name
      const own = {
        ...others,
        tls: { minVersion: tlsMinVersion },
        relay,
        fetch: handler,
        signal,
        ...(isNamed && { cache }),
      }
      const suspected = (site: PlatformSite): void => sites.leave(site, suspicion(relay))
      return publishProbed(
        platform(),
        { ...own, onSite: (made) => onSite(made as PlatformSite) },
        options,
        suspected,
      )
    },
    begun: (made, relay) => onSite?.(made, relay.origin),
  })
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

/** The code of routes, prices, sign-ins, datagrams, probes and discovery is loaded when the caller asked for them. */
async function routed(
  ...args: Parameters<typeof import('./target/routes.ts').routeHandler>
): Promise<FetchHandler> {
  const { routeHandler } = await import('./target/routes.ts')
  return routeHandler(...args)
}

async function guarded(handler: FetchHandler, options: WalletOptions): Promise<FetchHandler> {
  const { walletOnly } = await import('@svc/sdk-core/handlers')
  return walletOnly(handler, options)
}

async function priced(
  ...args: Parameters<typeof import('./target/paid-target.ts').paidTarget>
): Promise<FetchHandler> {
  const { paidTarget } = await import('./target/paid-target.ts')
  return paidTarget(...args)
}

async function routedBy(
  ...args: Parameters<typeof import('./hops/publish-routed.ts').routed>
): Promise<import('./hops/publish-routed.ts').Routed> {
  const { routed } = await import('./hops/publish-routed.ts')
  return routed(...args)
}

function openDatagrams(
  ...options: Parameters<typeof import('./datagram/datagram-carrier.ts').datagramCarrier>
): OpenDatagrams {
  return async (...args) => {
    const { datagramCarrier } = await import('./datagram/datagram-carrier.ts')
    return datagramCarrier(...options)(...args)
  }
}

/** Publishes on the route that the caller asked for, with a self-probe when it asked for one. */
async function publishProbed(
  plain: Platform,
  terms: PublishOptions,
  { ca, proxy, via, onProbe, carrier, banMitm = false }: ExposeOptions,
  suspected: (site: PlatformSite) => void,
): Promise<PlatformSite> {
  const { platform, options, route } =
    via === undefined
      ? { platform: plain, options: terms, route: undefined }
      : await routedBy(plain, { ...terms, ca, proxy, carrier }, [terms.relay, ...via])
  if (!onProbe && !banMitm) return publishOn(platform, sharedOptions(options))
  // a visitor may come before the site exists
  let probe: SelfProbe | undefined
  const admit: Admit = async (stream) => (probe ? probe.admit(stream) : stream)
  const { SelfProbe } = await import('./probe/self-probe.ts')
  const { openProbeConnection, openProbeConnectionOver } = await import('./probe/probe-connection.ts')
  const site = await publishOn({ ...platform, admit }, sharedOptions(options))
  const proxyFor = proxyChoice(proxy)
  const trusted = { ...(ca !== undefined && { ca }), lookup: localhostLookup }
  const judge = (verdict: ProbeVerdict): void => {
    onProbe?.({ site, verdict })
    if (banMitm && verdict === 'suspected') suspected(site)
  }
  probe = new SelfProbe(
    (url) => {
      if (route) return openProbeConnectionOver(route.visit(), url, trusted)
      const way = proxyFor(url)
      return way
        ? openProbeConnectionOver(
            openThrough(way, url).then(({ socket }) => socket),
            url,
            trusted,
          )
        : openProbeConnection(url, trusted)
    },
    () => probedUrl(site),
    judge,
  )
  return site
}

/**
 * The friendly hostname always leads here; where it is another site's, the canonical one does.
 * @returns undefined while the relay's copy of the files answers at the only hostname: there the relay ends TLS as agreed
 */
function probedUrl({ url, canonicalUrl, cache }: PlatformSite): URL | undefined {
  return cache?.present && url === canonicalUrl ? undefined : new URL(url)
}

function suspicion({ origin }: URL): SvcError {
  return new SvcError(
    'relay_suspected',
    `${origin} answers visitors itself: whatever passes there can be read`,
  )
}

function requireOne({ http, fetch, tls, tcp, udp, routes, paid }: ExposeOptions): void {
  const count = [http, fetch, tls].filter((target) => target !== undefined).length
  if (count > 1) throw new SvcError('invalid_option', 'http, fetch and tls exclude each other')
  if (tls !== undefined && routes)
    throw new SvcError('invalid_option', 'tls and routes exclude each other: paths are inside of TLS')
  if (paid && tls !== undefined)
    throw new SvcError('invalid_option', 'paid and tls exclude each other: payments are inside of TLS')
  if (paid && count === 0 && !routes)
    throw new SvcError(
      'invalid_option',
      'paid needs http, fetch or routes: visitors of other services cannot pay',
    )
  if (count === 0 && tcp === undefined && udp === undefined && !routes)
    throw new SvcError('invalid_option', 'a target is needed: http, fetch, routes, tls, tcp or udp')
}

function requireFitting({
  relay,
  relays = [],
  discover = 0,
  via,
  cache,
  banMitm,
  tcp,
  udp,
  tls,
  overlay,
  walletOnly,
  paid,
}: ExposeOptions): void {
  const named = relays.length + (relay === undefined ? 0 : 1)
  if (via !== undefined && (named !== 1 || discover !== 0))
    throw new SvcError('invalid_option', 'via goes with one relay, to which visitors come')
  if (via !== undefined && overlay)
    throw new SvcError('invalid_option', 'via and overlay exclude each other: a route names its relays')
  if (walletOnly && [tls, tcp, udp, cache].some((other) => other !== undefined))
    throw new SvcError(
      'invalid_option',
      'a list of wallets excludes tls, tcp, udp and cache: visitors would come in there without a sign-in',
    )
  if (cache === undefined) return
  if (banMitm)
    throw new SvcError(
      'invalid_option',
      'banMitm and cache exclude each other: with cache the site trusts the relay, which ends TLS at the canonical hostname while it has a copy',
    )
  if (paid)
    throw new SvcError(
      'invalid_option',
      'paid and cache exclude each other: the relay gives its copy of the files away',
    )
  if (tcp !== undefined || udp !== undefined)
    throw new SvcError('invalid_option', 'cache excludes tcp and udp: the relay stores files only')
}

/** Answers for a lease that exists for its ports alone. */
function nothingHere(): Response {
  return new Response('There is no web server here\n', { status: 404 })
}
