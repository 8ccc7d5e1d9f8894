// A site's route over several relays: visitors connect to the first, the site connects to the last, and each knows its neighbours.

import { createHash, randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { HEADER, HOP_RELAYS_MAX, PATH } from '@svc/protocol'
import {
  asSvcError,
  type CarrierEvents,
  type CarrierRelay,
  failureOf,
  identityFromKey,
  type OpenCarrier,
  type Platform,
  parseRelay,
  type Registration,
  type SiteCarrier,
  SvcError,
} from '@svc/sdk-core'
import { nativeCarrier } from '../carrier/native-carrier.ts'
import { relayTransport } from '../net/relay-transport.ts'
import { HopLease } from './hop-leases.ts'
import { RelayLine } from './relay-line.ts'
import { hopRouteSigner, type SignHopRoute } from './sign-hop-route.ts'

/** Times of the hop routes of a site. */
export interface RouteTimes {
  /** The life of a hop route, in seconds, by the clock of the relay that accepts it: several refreshes. */
  ttlS: number
  /** Milliseconds between two refreshes, by which the site learns that a relay of the route is away. */
  refreshMs: number
}

const ROUTE_TIMES: RouteTimes = { ttlS: 120, refreshMs: 20_000 }
/** Milliseconds from the end of a connection along the route to the next refresh. */
const HOP_BROKEN_DELAY_MS = 500
const TOKEN_BYTES = 32
const MS_PER_S = 1000

interface SiteRouteOptions {
  /** The relays, in the order of a visitor's bytes. */
  route: readonly (string | URL)[]
  name: string
  privateKey: Uint8Array
  ca: string | Buffer | undefined
  /** The option of `publish`. */
  proxy?: string | URL | undefined
  /** Whether sessions share connections if the last relay lists `native_yamux`. */
  isMultiplexed: boolean
  /** The option of `publish`. */
  visitorAddress: boolean
  /** The option of `publish`. */
  invitation?: string | undefined
  /** @default a life of 2 minutes, and a refresh every 20 seconds */
  times?: RouteTimes | undefined
}

/** The state of an installed route: one for each carrier. */
interface Installed {
  site: CarrierRelay
  lost: (error: SvcError) => void
  /** The expiry of the last accepted hop routes, by `performance.now()`. */
  until: number
  timer: NodeJS.Timeout | undefined
  /** Resolves when the current refresh is done. */
  refreshing: Promise<void> | undefined
}

export class SiteRoute {
  readonly #line: RelayLine
  /** The leases at the relays after the first, from the one that the site connects to. */
  readonly #leases: HopLease[]
  readonly #sign: SignHopRoute
  readonly #open: OpenCarrier
  readonly #times: RouteTimes
  readonly #visitorAddress: boolean
  /** By hostname, the tokens of its hop routes, from the relay that the site connects to. They are kept, so that later routes replace earlier ones. */
  readonly #tokens = new Map<string, string[]>()
  /** The expiry of the last signature. Each expires later than the one before, though the relays' clocks differ. */
  #signedUntil = 0
  #installed: Installed | undefined

  /** @throws SvcError `invalid_option` */
  constructor({
    route,
    name,
    privateKey,
    ca,
    proxy,
    isMultiplexed,
    visitorAddress,
    invitation,
    times = ROUTE_TIMES,
  }: SiteRouteOptions) {
    this.#times = times
    this.#visitorAddress = visitorAddress
    const relays = parseRoute(route).toReversed()
    const identity = identityFromKey(privateKey)
    const transport = relayTransport(ca, proxy)
    this.#sign = hopRouteSigner(privateKey)
    this.#open = nativeCarrier(() => transport.connect, isMultiplexed)
    this.#line = new RelayLine({
      relays,
      tls: () => transport.connect,
      token: async (...lease) => (await this.#acquire(...lease)).accessToken,
      ended: () => this.#refreshIn(HOP_BROKEN_DELAY_MS),
    })
    this.#leases = this.#line.relays.slice(0, -1).map(
      ({ client }) =>
        new HopLease({
          client,
          name,
          identity,
          visitorAddress,
          invitation,
          gone: (error) => this.#lost(error),
        }),
    )
  }

  /** The platform of a site with this route, whose relay is the first. */
  get platform(): Pick<Platform, 'fetch' | 'forgetConnections' | 'followPage' | 'openCarrier'> {
    const first = this.#line.relays.at(-1)!
    return {
      fetch: (url, init) => first.fetch.fetch(url, init),
      forgetConnections: () => this.#line.forgetConnections(),
      followPage: (_site, gone) => {
        gone.addEventListener('abort', () => void this.#close(), { once: true })
      },
      openCarrier: (...site) => this.#openCarrier(...site),
    }
  }

  /** Opens a connection to the public port of the first relay, which sees it as its neighbour's. @throws SvcError */
  visit(): Promise<Duplex> {
    return this.#line.open(this.#line.relays.length - 1)
  }

  #openCarrier: OpenCarrier = async (site, traffic, events, signal) => {
    // From the site outwards: each lease is requested through the relay before.
    for (const index of this.#leases.keys()) await this.#acquire(index, false)
    const { carrierUrl: url, ...last } = this.#leases[0]!.current!
    if (this.#visitorAddress) requireAddresses(site, last)
    const installed: Installed = {
      site,
      lost: events.ended,
      until: 0,
      timer: undefined,
      refreshing: undefined,
    }
    const own = this.#eventsOf(installed, last.capability, events)
    const carrier = await this.#open({ ...last, url }, traffic, own, signal)
    installed.lost = (error) => {
      carrier.close()
      events.ended(error)
    }
    // The last attempt's carrier may still exist: a site that failed for another reason closes it late.
    if (this.#installed) this.#uninstall(this.#installed)
    this.#installed = installed
    try {
      await this.#bring(installed)
    } catch (error) {
      this.#uninstall(installed)
      carrier.close()
      throw notOfTheSite(asSvcError(error, 'relay_unreachable', 'the route could not be made'))
    }
    if (this.#installed === installed) this.#refreshIn(this.#times.refreshMs)
    return this.#carrierOf(installed, carrier)
  }

  /** The events of the carrier at the last relay, whose lease is not that of the site. */
  #eventsOf(installed: Installed, capability: string, events: CarrierEvents): CarrierEvents {
    const last = this.#leases[0]!
    return {
      ...events,
      capability: () => last.current?.capability ?? capability,
      stale: () => last.renew(),
      traffic: () => {
        for (const lease of this.#leases) lease.touch()
        events.traffic()
      },
      ended: (reason) => {
        this.#uninstall(installed)
        events.ended(notOfTheSite(reason))
      },
    }
  }

  /** Wraps the carrier, so that the route ends with it. */
  #carrierOf(installed: Installed, carrier: SiteCarrier): SiteCarrier {
    return {
      get isClosed() {
        return carrier.isClosed
      },
      get stats() {
        return carrier.stats
      },
      fill: () => carrier.fill(),
      probe: () => {
        carrier.probe?.()
        this.#refreshIn(0)
      },
      drain: () => carrier.drain(),
      close: () => {
        this.#uninstall(installed)
        carrier.close()
      },
    }
  }

  /** Resolves with the lease at a relay after the first. */
  async #acquire(index: number, trusting: boolean): Promise<Registration> {
    return await this.#leases[index]!.acquire(trusting).catch((error) => {
      throw notOfTheSite(error)
    })
  }

  /** Ends the route, unless a later carrier uses it. */
  #uninstall(installed: Installed): void {
    clearTimeout(installed.timer)
    if (this.#installed === installed) this.#installed = undefined
  }

  #lost(error: SvcError): void {
    const installed = this.#installed
    if (installed === undefined) return
    this.#uninstall(installed)
    installed.lost(notOfTheSite(error))
  }

  #refreshIn(ms: number): void {
    const installed = this.#installed
    if (installed === undefined) return
    clearTimeout(installed.timer)
    installed.timer = setTimeout(() => {
      installed.refreshing ??= this.#refresh(installed)
    }, ms)
  }

  /** Installs the route again, because it would expire, and to check whether each of its relays is reachable. */
  async #refresh(installed: Installed): Promise<void> {
    try {
      await this.#bring(installed)
      if (this.#installed === installed) this.#refreshIn(this.#times.refreshMs)
    } catch (error) {
      if (this.#installed === installed) this.#notBrought(installed, error)
    } finally {
      installed.refreshing = undefined
    }
  }

  /** Handles a failed refresh. If the relays only want it less often, the route stays unless it would expire before they accept it again. */
  #notBrought(installed: Installed, error: unknown): void {
    const pauseMs = error instanceof TooOften ? (error.retryAfterMs ?? this.#times.refreshMs) : undefined
    if (pauseMs !== undefined && performance.now() + pauseMs + this.#times.refreshMs < installed.until)
      this.#refreshIn(pauseMs)
    else this.#lost(asSvcError(error, 'relay_unreachable', 'the route is broken'))
  }

  /** Installs the hop routes of each hostname, from the site outwards, so that visitors come only when the whole route exists. */
  async #bring(installed: Installed): Promise<void> {
    const { site } = installed
    const until = performance.now() + this.#times.ttlS * MS_PER_S
    const hostnames =
      site.hostname === '' ? [site.canonicalHostname] : [site.hostname, site.canonicalHostname]
    await Promise.all(hostnames.map((hostname) => this.#bringOne(hostname, site)))
    installed.until = until
  }

  async #bringOne(hostname: string, { canonicalHostname }: CarrierRelay): Promise<void> {
    const { relays } = this.#line
    const tokens = this.#tokens.get(hostname) ?? relays.slice(1).map(() => randomToken())
    this.#tokens.set(hostname, tokens)
    const hostname_hash = createHash('sha256').update(hostname).digest('hex')
    for (let index = 1; index < relays.length; index++) {
      const isFirst = index === relays.length - 1
      const next = relays[index - 1]!
      const now = next.client.clock.now
      const { accessToken } = await this.#acquire(index - 1, true)
      const route = this.#sign('POST', {
        relay_url: relays[index]!.url.origin,
        public_hostname: isFirst ? hostname : '',
        route_hostname: isFirst ? canonicalHostname : this.#leases[index]!.current!.canonicalHostname,
        hostname_hash,
        match_token: isFirst ? '' : tokens[index]!,
        metadata: {},
        forward_relay: next.url.origin,
        forward_token: tokens[index - 1]!,
        first_seen_at: new Date(now).toISOString(),
        expires_at: new Date(this.#endAfter(now)).toISOString(),
      })
      const answer = await next.client.request(PATH.hopRoute, {
        body: { method: 'POST', route },
        headers: { [HEADER.accessToken]: accessToken },
      })
      if (answer.ok) continue
      const error = failureOf(PATH.hopRoute, answer)
      throw error.code === 'rate_limited' ? new TooOften(error) : error
    }
  }

  /** @param now the time by the clock of the relay that the signature is for */
  #endAfter(now: number): number {
    this.#signedUntil = Math.max(now + this.#times.ttlS * MS_PER_S, this.#signedUntil + 1)
    return this.#signedUntil
  }

  /** Unregisters the leases, starting at the first relay, while each is still reachable. */
  async #close(): Promise<void> {
    if (this.#installed) this.#uninstall(this.#installed)
    for (const lease of this.#leases.toReversed()) await lease.release()
    this.#line.close()
  }
}

/** A relay accepts no hop route at the moment. It knows the lease, so it still has the earlier routes. */
class TooOften extends SvcError {
  constructor({ message, retryAfterMs }: SvcError) {
    super('rate_limited', message, { retryAfterMs })
  }
}

/** @throws SvcError `invalid_option` */
function parseRoute(route: readonly (string | URL)[]): URL[] {
  const invalid = (message: string): SvcError => new SvcError('invalid_option', message)
  if (!Array.isArray(route) || route.length < 2 || route.length > HOP_RELAYS_MAX)
    throw invalid(`a route has 2 to ${HOP_RELAYS_MAX} relays`)
  const relays = route.map((relay) => new URL(parseRelay(relay).origin))
  if (new Set(relays.map(({ origin }) => origin)).size < relays.length)
    throw invalid('a route has no relay twice')
  return relays
}

function randomToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url')
}

/** Replaces codes that would make the site drop its lease at the first relay, or end. */
function notOfTheSite(error: SvcError): SvcError {
  const { code, message, retryAfterMs } = error
  if (code === 'aborted' || code === 'rate_limited' || code === 'ip_banned') return error
  return new SvcError('relay_unreachable', `the route is broken: ${message}`, { cause: error, retryAfterMs })
}

/**
 * The site expects visitors' addresses if the first relay tells them; they come if the last one does.
 * @throws SvcError `incompatible_relay`
 */
function requireAddresses(...relays: Pick<CarrierRelay, 'extensions'>[]): void {
  if (!relays.every(({ extensions }) => extensions.has('visitor_address')))
    throw new SvcError('incompatible_relay', 'visitorAddress needs relays that tell visitors’ addresses')
}
