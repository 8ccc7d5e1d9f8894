// The options of `expose`, and which combinations are valid.

import type {
  ClientCertificateOptions,
  FetchHandler,
  KnockingVisitor,
  PlatformSite,
  PublishOptions,
} from '@svc/sdk-core'
import { SvcError } from '@svc/sdk-core'
import type { PaidOptions, WalletOptions, WebhookSecrets } from '@svc/sdk-core/handlers'
import type { Inspector } from '@svc/sdk-core/inspector'
import type { UdpFlow } from '../datagram/local-flows.ts'
import type { HoldReport } from '../hold/hold.ts'
import type { HoldOptions } from '../hold/options.ts'
import { refuseUnknown } from '../known-options.ts'
import { NODE_OPTIONS, type NodeOptions } from '../platform.ts'
import type { ProbeVerdict } from '../probe/self-probe.ts'
import type { OnRequest } from '../target/request-reports.ts'
import type { Routes } from '../target/routes.ts'
import type { HostHeader } from '../target/target-origin.ts'
import type { ProxyProtocol } from '../target/tcp-target.ts'

/**
 * ExposeOptions are the options of `expose`: a target, a relay, and the applicable options of `publish`.
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
  /** The relay's address, such as `https://relay.example`. It is added to `relays`. */
  relay?: string | URL | undefined
  /** The addresses of several relays: each gives the site a separate URL, and has a separate connection. */
  relays?: readonly (string | URL)[] | undefined
  /**
   * Asks the named relays for others, and keeps the site online at up to this many of those too: a whole number from 0 to 8. Those
   * that are near and not busy are preferred, and a relay that fails is replaced.
   * @default 0
   */
  discover?: number | undefined
  /**
   * One to three relays behind `relay`, which then is the only one. Visitors connect to `relay`, which passes them on from one to the
   * next; the site connects to the last. So each relay sees only its neighbours. All must be on one overlay.
   * @default none: the site connects to `relay`
   */
  via?: readonly (string | URL)[] | undefined
  /**
   * A local HTTP server: a port, `host:port`, a URL, or a Unix socket as `unix:/run/app.sock`. The SDK terminates TLS, and WebSockets are
   * forwarded. gRPC calls always use HTTP/2; with `grpc://50051` or `h2c://`, all requests do.
   */
  http?: number | string | URL | undefined
  /** A handler in this process, instead of `http`. */
  fetch?: FetchHandler | undefined
  /** Several targets, by path or host; `http` or `fetch` answers the other requests. */
  routes?: Routes | undefined
  /**
   * Admits only visitors who sign in with a wallet of the list; the target gets the address in the field `X-Svc-Wallet`. It
   * excludes `tls`, `tcp`, `udp` and `cache`, with which visitors would bypass it.
   * @default everybody is admitted
   */
  walletOnly?: WalletOptions | undefined
  /**
   * Paths that visitors pay for, by x402, at any target. The default facilitator is that of the first relay.
   * @default none: all is free
   */
  paid?: PaidOptions | undefined
  /** A local TLS server, instead of `http`: it gets the visitors' raw TLS, and presents its own certificate. */
  tls?: number | string | undefined
  /** A local TCP service, at a dedicated port of the relay. */
  tcp?: number | string | undefined
  /**
   * Sends the local TCP or TLS service a header of the PROXY protocol before each visitor's bytes, with the visitor's address: a line of text
   * (`'v1'`) or binary (`'v2'`). The service must expect it.
   * @default none
   */
  proxyProtocol?: ProxyProtocol | undefined
  /** A local UDP service, at a dedicated port of the relay. It sees each visitor as a separate client. */
  udp?: number | string | undefined
  /**
   * PEM of the CA that verifies the certificate of an `https:` target.
   * @default the system's CAs
   */
  targetCa?: string | Buffer | undefined
  /**
   * The name in the certificate of an `https:` target.
   * @default the host of its URL
   */
  targetServerName?: string | undefined
  /**
   * The lowest TLS version for visitors. `TLSv1.2` takes effect once the site has its own certificate.
   * @default TLSv1.3
   */
  tlsMinVersion?: 'TLSv1.2' | 'TLSv1.3' | undefined
  /**
   * Asks visitors for a client certificate, and verifies it; HTTP targets get it in the field `Client-Cert`. It excludes `tls`,
   * `tcp`, `udp` and `cache`, with which visitors would bypass it. With `required`, the site does not visit itself: `onProbe`
   * is not called.
   * @default none: visitors stay anonymous
   */
  clientCertificates?: ClientCertificateOptions | undefined
  /**
   * The host that a local HTTP server sees, and so the origin that it considers its own: that of visitors
   * (`'preserve'`), that of the server's address (`'rewrite'`), or one such as `'app.test:8080'`.
   * @default `'preserve'`, and `'rewrite'` once the server has refused the visitors' host
   */
  host?: HostHeader | undefined
  /**
   * Called with the site of each relay before it connects, because a relay may make it wait, and with the relay's origin. With
   * `discover`, it is also called for each relay that is tried later; the state of the site shows when it has ended.
   */
  onSite?: ((site: PlatformSite, relay: string) => void) | undefined
  /**
   * Called with each verdict of the self-probe. When it is set, the site visits itself at intervals, to see whether something terminates
   * TLS on the way. It visits from its own address, which a relay can treat differently: `not_seen_from_here` proves nothing for other visitors.
   */
  onProbe?: ((report: ProbeReport) => void) | undefined
  /**
   * Leaves a relay that the self-probe caught terminating TLS; it cannot catch one that spares the site's own visits. With
   * `discover`, another relay replaces it. If false, the SDK only reports the verdict. It excludes `cache`, with which the
   * site trusts the relay on purpose.
   * @default false
   */
  banMitm?: boolean | undefined
  /**
   * Called with the error of a local service that does not answer, once for each affected visitor, and with `host_refused` when
   * it refused the visitors' host.
   */
  onTargetError?: ((error: SvcError) => void) | undefined
  /**
   * The secrets with which the signatures of webhooks are checked, by sender: the report of the request has the result. They stay
   * in this process, and all requests pass. It needs `http`, `fetch` or `routes`.
   * @default none: nothing is checked
   */
  webhooks?: WebhookSecrets | undefined
  /**
   * Records each exchange of the web server in a new HAR file, HTTP Archive 1.2, which `replayHar` answers from. Secrets in fields and
   * queries are masked.
   * @default none
   */
  record?: string | undefined
  /**
   * Keeps requests of POST, PUT, PATCH and DELETE while nothing listens at the address of an HTTP server, and delivers them in order,
   * each once, when something does. They are in the memory of this process alone. It excludes `paid`.
   * @default none: visitors get 502
   */
  hold?: HoldOptions | undefined
  /** Called when a request is kept, delivered, lost or refused, with `hold`. */
  onHold?: ((report: HoldReport) => void) | undefined
  /**
   * Records the requests of visitors who may come in, and the responses: an `Inspector` of `@svc/sdk-node/handlers`.
   * @default none
   */
  inspector?: Pick<Inspector, 'wrap'> | undefined
  /** Called with a report of each answered request. */
  onRequest?: OnRequest | undefined
  /**
   * Called once for each new flow of the UDP service, before its first datagram: it tells which visitor the service sees behind a local
   * port. A datagram waits up to 50 ms for its visitor's address.
   */
  onUdpFlow?: ((flow: UdpFlow) => void) | undefined
  /** Called with each visitor who waits to be let in, with `access.knock`. */
  onKnock?: ((visitor: KnockingVisitor) => void) | undefined
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
  proxyProtocol: true,
  targetCa: true,
  targetServerName: true,
  tlsMinVersion: true,
  clientCertificates: true,
  host: true,
  onProbe: true,
  banMitm: true,
  onTargetError: true,
  inspector: true,
  webhooks: true,
  record: true,
  hold: true,
  onHold: true,
  onRequest: true,
  onUdpFlow: true,
  onKnock: true,
} satisfies Record<OwnOption, true>).concat(NODE_OPTIONS)

/** ProbeReport is the result of a self-probe at a site's relay. */
export interface ProbeReport {
  site: PlatformSite
  verdict: ProbeVerdict
  /** The custom domain that was visited. Undefined for the site's URL. */
  domain: string | undefined
}

/** @throws SvcError `invalid_option` for an option that does not exist, and for invalid combinations */
export function checkOptions(options: ExposeOptions): void {
  refuseUnknown(options, OWN_OPTIONS)
  requireOne(options)
  requireFitting(options)
}

function requireOne({
  http,
  fetch,
  tls,
  tcp,
  udp,
  routes,
  paid,
  rules,
  proxyProtocol,
  visitorAddress,
  webhooks,
  hold,
  record,
  inspector,
}: ExposeOptions): void {
  const count = [http, fetch, tls].filter((target) => target !== undefined).length
  if (count > 1) throw new SvcError('invalid_option', 'http, fetch and tls exclude each other')
  if (tls !== undefined && routes)
    throw new SvcError('invalid_option', 'tls and routes exclude each other: paths are inside of TLS')
  if (paid && tls !== undefined)
    throw new SvcError('invalid_option', 'paid and tls exclude each other: payments are inside of TLS')
  if (rules && tls !== undefined)
    throw new SvcError('invalid_option', 'rules and tls exclude each other: requests are inside of TLS')
  const isMocked = rules?.mocks !== undefined
  if (rules && count === 0 && !routes && !isMocked)
    throw new SvcError(
      'invalid_option',
      'rules need http, fetch or routes, unless they have mocks: they are about HTTP',
    )
  if (record !== undefined && (tls !== undefined || (count === 0 && !routes)))
    throw new SvcError('invalid_option', 'record needs http, fetch or routes: it records HTTP')
  if (hold && (tls !== undefined || (http === undefined && !routes)))
    throw new SvcError('invalid_option', 'hold needs http or routes: it keeps requests for a web server')
  if (hold && paid)
    throw new SvcError('invalid_option', 'hold and paid exclude each other: visitors would pay for no answer')
  if (webhooks && (tls !== undefined || (count === 0 && !routes && !isMocked)))
    throw new SvcError('invalid_option', 'webhooks need http, fetch or routes: they are about HTTP')
  if (inspector && (tls !== undefined || (count === 0 && !routes)))
    throw new SvcError(
      'invalid_option',
      'an inspector needs http, fetch or routes: requests are inside of TLS, and other services have none',
    )
  if (paid && count === 0 && !routes)
    throw new SvcError(
      'invalid_option',
      'paid needs http, fetch or routes: visitors of other services cannot pay',
    )
  if (proxyProtocol !== undefined && tls === undefined && tcp === undefined)
    throw new SvcError(
      'invalid_option',
      'proxyProtocol is for tcp and tls: a web server gets X-Forwarded-For',
    )
  if (proxyProtocol !== undefined && proxyProtocol !== 'v1' && proxyProtocol !== 'v2')
    throw new SvcError('invalid_option', 'proxyProtocol is v1 or v2')
  if (proxyProtocol !== undefined && visitorAddress === false)
    throw new SvcError('invalid_option', 'proxyProtocol needs visitorAddress: the header has the address')
  if (count === 0 && tcp === undefined && udp === undefined && !routes && !isMocked)
    throw new SvcError(
      'invalid_option',
      'a target is needed: http, fetch, routes, tls, tcp or udp, or rules with mocks',
    )
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
  access,
  walletOnly,
  paid,
  rules,
  clientCertificates,
  awayPage,
}: ExposeOptions): void {
  const named = relays.length + (relay === undefined ? 0 : 1)
  if (via !== undefined && (named !== 1 || discover !== 0))
    throw new SvcError('invalid_option', 'via goes with one relay, to which visitors come')
  if (via !== undefined && overlay)
    throw new SvcError('invalid_option', 'via and overlay exclude each other: a route names its relays')
  if (awayPage && tls !== undefined)
    throw new SvcError('invalid_option', 'awayPage excludes tls, whose server shows a certificate of its own')
  if (access && [tls, tcp, udp, cache].some((other) => other !== undefined))
    throw new SvcError(
      'invalid_option',
      'access excludes tls, tcp, udp and cache: visitors would come in there without being checked',
    )
  if (clientCertificates && [tls, tcp, udp, cache].some((other) => other !== undefined))
    throw new SvcError(
      'invalid_option',
      'client certificates exclude tls, tcp, udp and cache: visitors would come in there without one',
    )
  if (clientCertificates && clientCertificates.required !== false && banMitm)
    throw new SvcError(
      'invalid_option',
      'banMitm and required client certificates exclude each other: the site has none with which to visit itself, and whoever ends TLS on the way has none either',
    )
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
  if (rules)
    throw new SvcError(
      'invalid_option',
      'rules and cache exclude each other: the relay serves its copy of the files without them',
    )
  if (tcp !== undefined || udp !== undefined)
    throw new SvcError('invalid_option', 'cache excludes tcp and udp: the relay stores files only')
}
