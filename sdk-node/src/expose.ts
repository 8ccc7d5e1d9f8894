// `expose`: puts a service of this machine's network online, at the addresses of one relay or several.

import type { FetchHandler, PublishOptions } from '@svc/sdk-core'
import {
  type Admit,
  identityFromKey,
  type OpenDatagrams,
  type Platform,
  type PlatformSite,
  parseRelay,
  publishOn,
  SvcError,
} from '@svc/sdk-core'
import { localhostLookup } from './net/localhost-lookup.ts'
import { type NodeOptions, nodePlatform } from './platform.ts'
import type { ProbeVerdict, SelfProbe } from './probe/self-probe.ts'
import { RelayAttempt } from './relays/relay-attempt.ts'
import { httpTarget } from './target/http-target.ts'
import { type OnRequest, reportingRequests } from './target/request-reports.ts'
import type { Routes } from './target/routes.ts'
import { parseHttpTarget, parseTcpTarget } from './target/target-address.ts'
import { serveTcpTarget } from './target/tcp-target.ts'

/**
 * ExposeOptions are the options of `expose`: a target, a relay, and those of `publish` that fit.
 * @see PublishOptions
 */
export interface ExposeOptions
  extends Omit<PublishOptions, 'relay' | 'name' | 'fetch' | 'tls' | 'onSite' | 'identity'>,
    NodeOptions {
  /**
   * A secp256k1 private key of 32 bytes.
   * @default the key of the file at `identityPath`
   */
  identity?: Uint8Array | undefined
  /**
   * The site's name.
   * @default made of the identity's address
   */
  name?: string | undefined
  /** The relay's address, such as `https://relay.example`. It is one more of `relays`. */
  relay?: string | URL | undefined
  /** Addresses of several relays: each gives the site a URL of its own, and the SDK keeps the connection to each by itself. */
  relays?: readonly (string | URL)[] | undefined
  /**
   * Asks the named relays for others, and takes up to this many in addition: the nearest that answer and offer what is needed.
   * @default 0
   */
  discover?: number | undefined
  /** A local HTTP server: a port, `host:port`, or a URL. TLS ends in the SDK, and WebSockets are passed on. */
  http?: number | string | URL | undefined
  /** A handler in this process, in place of `http`. */
  fetch?: FetchHandler | undefined
  /** Several targets, by path or host; `http` or `fetch` answers the other requests. */
  routes?: Routes | undefined
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
   * Called with the site of each relay before it connects, since a relay may make it wait, and with the relay's origin.
   */
  onSite?: ((site: PlatformSite, relay: string) => void) | undefined
  /**
   * Called with each verdict of the self-probe. When it is set, the site visits itself now and then, to see whether the relay
   * passes TLS through.
   */
  onProbe?: ((report: ProbeReport) => void) | undefined
  /**
   * Leaves a relay that is suspected to read what passes. When it is false, the SDK only reports the verdict.
   * @default false
   */
  banMitm?: boolean | undefined
  /** Called with the error of a local service that does not answer, once for each visitor that it fails. */
  onTargetError?: ((error: SvcError) => void) | undefined
  /** Called with a report of each request that was answered. */
  onRequest?: OnRequest | undefined
}

/** Exposure is what `expose` put online: a site for each relay. */
export interface Exposure {
  /** The sites, one for each relay that took it or makes it wait, in the order of the relays. */
  readonly sites: readonly PlatformSite[]
  /** The relays that failed so far, or that named no other relays, with the error of each. */
  readonly failures: readonly ExposeFailure[]
  /** Takes it off all relays. Visitors who are connected get a few seconds to finish. */
  close(): Promise<void>
}

/** ProbeReport is what a self-probe found out about a site's relay. */
export interface ProbeReport {
  site: PlatformSite
  verdict: ProbeVerdict
}

/** An ExposeFailure names a relay that did not take the site, and says why. */
export interface ExposeFailure {
  relay: string
  error: SvcError
}

/** Digits of the address in a name that the caller did not choose: enough that two identities hardly ever meet. */
const NAME_DIGITS = 8

/**
 * Resolves when visitors can come by one relay at least, and each of the others took the site, failed, or makes it wait.
 * @throws SvcError the failure at the first relay, when it failed at all
 */
export async function expose(options: ExposeOptions): Promise<Exposure> {
  const {
    relay,
    relays = [],
    http,
    fetch,
    routes,
    tls,
    tcp,
    udp,
    targetCa,
    onTargetError,
    onRequest,
    ca,
    identityPath,
    onSite,
    ...site
  } = options
  const onError = onTargetError ?? (() => {})
  requireOne(options)
  const targets = {
    tls: tls === undefined ? undefined : parseTcpTarget('tls', tls),
    tcp: tcp === undefined ? undefined : parseTcpTarget('tcp', tcp),
    udp: udp === undefined ? undefined : parseTcpTarget('udp', udp),
  }
  const hasWeb = [http, fetch, routes, tls].some((target) => target !== undefined)
  // each relay has its own platform: they do not affect each other
  const platform = (): Platform => ({
    ...nodePlatform({ ca, identity: options.identity, identityPath, carrier: options.carrier ?? 'native' }),
    needsCertificate: hasWeb,
    ...(targets.tls && { serveTls: serveTcpTarget(targets.tls, onError) }),
    ...(targets.tcp && { serveRaw: serveTcpTarget(targets.tcp, onError) }),
    ...(targets.udp && { openDatagrams: openDatagrams(targets.udp, { ca, onError }) }),
  })
  const target = { ca: targetCa, onError }
  const whole = http === undefined ? (fetch ?? nothingHere) : httpTarget(parseHttpTarget(http), target)
  const handler = reportingRequests(onRequest, routes ? await routed(routes, whole, target) : whole)
  const { addresses, failures: silent } = await chooseRelays(
    [...(relay === undefined ? [] : [relay]), ...relays],
    options,
  )
  // the options are valid by now, so an identity may be made
  const named = options.name === undefined ? await nameless(options) : { name: options.name }
  const attempts = addresses.map((address) => {
    const one = { ...site, ...named, relay: address, fetch: handler }
    return new RelayAttempt(address.origin, onSite, (onSite) =>
      publishProbed(platform(), { ...one, onSite }, options),
    )
  })
  const failures: ExposeFailure[] = []
  for (const { relay, online } of attempts) online.catch((error) => failures.push({ relay, error }))
  await Promise.all(attempts.map(({ decided }) => decided))
  await Promise.any(attempts.map(({ online }) => online)).catch(({ errors }: AggregateError) => {
    throw errors[0]
  })
  failures.push(...silent)
  const sites = attempts.flatMap(({ site }) => (site ? [site] : []))
  return {
    sites,
    failures,
    close: async () => {
      await Promise.all(sites.map((one) => one.close()))
    },
  }
}

/** The code of routes, datagrams, probes and discovery is loaded when the caller asked for them. */
async function routed(
  ...args: Parameters<typeof import('./target/routes.ts').routeHandler>
): Promise<FetchHandler> {
  const { routeHandler } = await import('./target/routes.ts')
  return routeHandler(...args)
}

function openDatagrams(
  ...options: Parameters<typeof import('./datagram/datagram-carrier.ts').datagramCarrier>
): OpenDatagrams {
  return async (...args) => {
    const { datagramCarrier } = await import('./datagram/datagram-carrier.ts')
    return datagramCarrier(...options)(...args)
  }
}

/** Publishes, with a self-probe when the caller asked for one. */
async function publishProbed(
  platform: Platform,
  options: PublishOptions,
  { ca, onProbe, banMitm = false }: ExposeOptions,
): Promise<PlatformSite> {
  if (!onProbe && !banMitm) return publishOn(platform, options)
  // a visitor may come before the site exists
  let probe: SelfProbe | undefined
  const admit: Admit = async (stream) => (probe ? probe.admit(stream) : stream)
  const site = await publishOn({ ...platform, admit }, options)
  const { SelfProbe } = await import('./probe/self-probe.ts')
  const judge = (verdict: ProbeVerdict): void => {
    onProbe?.({ site, verdict })
    if (banMitm && verdict === 'suspected') site.close()
  }
  probe = new SelfProbe(
    { ...(ca !== undefined && { ca }), lookup: localhostLookup },
    () => new URL(site.url),
    judge,
  )
  return site
}

/** @returns the named relays and, when the caller asked for them, others that these know */
async function chooseRelays(
  given: readonly (string | URL)[],
  { discover: max = 0, ca, signal, tcp, udp }: ExposeOptions,
): Promise<{ addresses: readonly URL[]; failures: ExposeFailure[] }> {
  if (given.length === 0) throw new SvcError('invalid_option', 'a relay is needed')
  if (!Number.isInteger(max) || max < 0)
    throw new SvcError('invalid_option', `discover must be a whole number, not ${String(max)}`)
  const known = given.map(parseRelay)
  if (max === 0) return { addresses: known, failures: [] }
  const { discover } = await import('./relays/discovery.ts')
  const wanted = { tcp: tcp !== undefined, udp: udp !== undefined }
  const { found, failures } = await discover(known, max, wanted, nodePlatform({ ca }).fetch, signal)
  return { addresses: [...known, ...found], failures }
}

/** Makes the name of the identity. */
async function nameless({
  identity,
  identityPath,
}: ExposeOptions): Promise<{ identity: Uint8Array; name: string }> {
  const key = identity ?? (await nodePlatform({ identityPath }).loadIdentity())
  const { address } = identityFromKey(key)
  return { identity: key, name: nameOfAddress(address) }
}

/** @returns the name of a site whose caller chose none */
export function nameOfAddress(address: string): string {
  return `svc-${address.slice(2, 2 + NAME_DIGITS).toLowerCase()}`
}

function requireOne({ http, fetch, tls, tcp, udp, routes }: ExposeOptions): void {
  const count = [http, fetch, tls].filter((target) => target !== undefined).length
  if (count > 1) throw new SvcError('invalid_option', 'http, fetch and tls exclude each other')
  if (tls !== undefined && routes)
    throw new SvcError('invalid_option', 'tls and routes exclude each other: paths are inside of TLS')
  if (count === 0 && tcp === undefined && udp === undefined && !routes)
    throw new SvcError('invalid_option', 'a target is needed: http, fetch, routes, tls, tcp or udp')
}

/** Answers for a lease that exists for its ports alone. */
function nothingHere(): Response {
  return new Response('There is no web server here\n', { status: 404 })
}
