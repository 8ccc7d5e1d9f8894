// `expose`: what runs on this machine's network, at the addresses of one relay or several.

import type { FetchHandler, PublishOptions } from '@svc/sdk-browser'
import {
  type Admit,
  asSvcError,
  type Platform,
  type PlatformSite,
  publishOn,
  SvcError,
} from '@svc/sdk-browser/platform'
import { lookup } from './lookup.ts'
import { type NodeOptions, nodePlatform } from './platform.ts'
import { type ProbeVerdict, SelfProbe } from './probe/self-probe.ts'
import { parseHttpTarget, parseTcpTarget } from './target/address.ts'
import { bridgeTo } from './target/bridge.ts'
import { httpTarget } from './target/http.ts'

export interface ExposeOptions extends Omit<PublishOptions, 'relay' | 'fetch' | 'tls'>, NodeOptions {
  /** The relay's address, `https://…`. */
  relay?: string | URL | undefined
  /** Several: each gives the site a URL of its own, and each connection to them is kept by itself. */
  relays?: readonly (string | URL)[] | undefined
  /** A local HTTP server: a port, `host:port`, or a URL. TLS ends here, WebSockets are passed on. */
  http?: number | string | URL | undefined
  /** A handler in this process, in place of `http`. */
  fetch?: FetchHandler | undefined
  /** A local TLS server, in place of `http`: it gets the visitors' TLS as it is, and shows its own certificate. */
  tls?: number | string | undefined
  /** A local TCP service, at a port of the relay that is its own. */
  tcp?: number | string | undefined
  /** PEM of the authority that the certificate of an `https:` target is checked against. Default: the system's. */
  targetCa?: string | Buffer | undefined
  /** The site visits itself now and then, to see whether the relay passes TLS through, and tells what it found. */
  onProbe?: ((report: ProbeReport) => void) | undefined
  /** Leaves a relay that is suspected to read what passes. Default: it is only told. */
  banMitm?: boolean | undefined
  /** Is told of a local service that does not answer, at each visitor that it fails. */
  onTargetError?: ((error: SvcError) => void) | undefined
}

export interface Exposure {
  /** One for each relay that took it, in the order of the relays. */
  readonly sites: readonly PlatformSite[]
  /** Relays at which it failed, and why. */
  readonly failures: readonly ExposeFailure[]
  /** Takes it off all relays. Visitors who are here get a few seconds. */
  close(): Promise<void>
}

export interface ProbeReport {
  site: PlatformSite
  verdict: ProbeVerdict
}

export interface ExposeFailure {
  relay: string
  error: SvcError
}

/**
 * Resolves when visitors can come by one relay at least.
 * @throws SvcError the failure at the first relay, when it failed at all
 */
export async function expose(options: ExposeOptions): Promise<Exposure> {
  const {
    relay,
    relays = [],
    http,
    fetch,
    tls,
    tcp,
    targetCa,
    onTargetError,
    ca,
    identityPath,
    ...site
  } = options
  const onError = onTargetError ?? (() => {})
  requireOne(http, fetch, tls, tcp)
  // each relay its own: none of them concerns another
  const platform = (): Platform => ({
    ...nodePlatform({ ca, identityPath, carrier: options.carrier ?? 'native' }),
    ...(tls !== undefined && { serveTls: bridgeTo(parseTcpTarget('tls', tls), onError) }),
    ...(tcp !== undefined && { serveRaw: bridgeTo(parseTcpTarget('tcp', tcp), onError) }),
  })
  const handler =
    http === undefined ? (fetch ?? nothingHere) : httpTarget(parseHttpTarget(http), { ca: targetCa, onError })
  const addresses = [...(relay === undefined ? [] : [relay]), ...relays]
  if (addresses.length === 0) throw new SvcError('invalid_option', 'a relay is needed')
  const outcomes = await Promise.all(
    addresses.map((address) =>
      publishProbed(platform(), { ...site, relay: address, fetch: handler }, options).catch(
        (error): ExposeFailure => ({
          relay: String(address),
          error: asSvcError(error, 'relay_unreachable', 'the site could not be published'),
        }),
      ),
    ),
  )
  const sites: PlatformSite[] = []
  const failures: ExposeFailure[] = []
  for (const outcome of outcomes) 'error' in outcome ? failures.push(outcome) : sites.push(outcome)
  if (sites.length === 0) throw failures[0]!.error
  return {
    sites,
    failures,
    close: async () => {
      await Promise.all(sites.map((one) => one.close()))
    },
  }
}

/** With a probe of its own, when that was asked for. */
async function publishProbed(
  platform: Platform,
  options: PublishOptions,
  { ca, onProbe, banMitm = false }: ExposeOptions,
): Promise<PlatformSite> {
  if (!onProbe && !banMitm) return publishOn(platform, options)
  // a visitor may come before there is a site to be told of
  let probe: SelfProbe | undefined
  const admit: Admit = async (stream) => (probe ? probe.admit(stream) : stream)
  const site = await publishOn({ ...platform, admit }, options)
  const judge = (verdict: ProbeVerdict): void => {
    onProbe?.({ site, verdict })
    if (banMitm && verdict === 'suspected') site.close()
  }
  probe = new SelfProbe({ ...(ca !== undefined && { ca }), lookup }, () => new URL(site.url), judge)
  return site
}

function requireOne(http: unknown, fetch: unknown, tls: unknown, tcp: unknown): void {
  const count = [http, fetch, tls].filter((target) => target !== undefined).length
  if (count > 1) throw new SvcError('invalid_option', 'http, fetch and tls exclude each other')
  if (count === 0 && tcp === undefined)
    throw new SvcError('invalid_option', 'a target is needed: http, fetch, tls or tcp')
}

/** Of a lease that is there for its TCP port. */
function nothingHere(): Response {
  return new Response('There is no web server here\n', { status: 404 })
}
