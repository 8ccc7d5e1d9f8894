// Checks the options of `publish` once. All other code relies on them.

import { LEASE_TTL_DEFAULT_S, LEASE_TTL_MAX_S, type LeaseMetadata, normalizeName } from '@svc/protocol'
import type { AccessOptions } from '../access/options.ts'
import type { CacheFiles, CacheOptions } from '../cache/cache-options.ts'
import { isRecord } from '../control/json-checks.ts'
import type { AcmeOptions, BroughtDomain } from '../domains/options.ts'
import type { ServedDomains } from '../domains/served-domains.ts'
import { SvcError } from '../errors.ts'
import type { FetchHandler } from '../exchange/fetch-handler.ts'
import { explained } from '../explained.ts'
import { isBlob, isBytes } from '../platform-objects.ts'
import type { TrafficRules } from '../rules/options.ts'
import type { TlsOptions, TlsSettings } from '../tenant/server.ts'
import { CONNECTIONS_MAX } from './connections-max.ts'
import type { DebugEvent } from './debug-event.ts'
import { relayUrl } from './relay-url.ts'
import type { Site } from './site.ts'

/** PublishOptions are the options of `publish`. Only `relay` and `fetch` are required. */
export interface PublishOptions {
  /** The relay's URL: `https:`, without credentials. */
  relay: string | URL
  /**
   * More relays: the site is online at each of them, with a separate URL.
   * @default none
   */
  relays?: readonly (string | URL)[] | undefined
  /**
   * Asks the relays for others that they know, and keeps the site online at up to this many of those too: a whole number
   * from 0 to 8. A relay that fails is replaced.
   * @default 0
   */
  discover?: number | undefined
  /**
   * The site's name: one DNS label of 1 to 22 letters, digits and inner hyphens.
   * @default derived from the identity's address, so it stays the same as long as the identity does
   */
  name?: string | undefined
  /** The handler that answers visitors' requests. */
  fetch: FetchHandler
  /**
   * Request fields that `fetch` gets although servers trust them as set by a proxy in front, such as
   * `X-Forwarded-For` and `Remote-User`. The SDK removes those not named here, because the visitor wrote them.
   * @default none
   */
  allowFields?: readonly string[] | undefined
  /**
   * A secp256k1 private key of 32 bytes or, in a page or worker, the name of a key that is created once and stored for this web
   * origin. Sites with the same identity and `name` take the hostname from each other: pages of one origin that publish
   * different sites need different identities or names.
   * @default the stored key named `default`; in Node, the key in the file `identityPath`
   */
  identity?: Uint8Array | string | undefined
  /**
   * Publishes under the canonical hostname only, if another identity owns the name. Otherwise `publish` rejects with
   * `hostname_conflict`.
   * @default false
   */
  allowCanonicalFallback?: boolean | undefined
  /**
   * The invitation of a relay that lets nobody register without one, from its operator. Relays that the site discovers do not get it.
   * @default none
   */
  invitation?: string | undefined
  /**
   * Shows the site, with its `metadata`, on the relay's public list of sites.
   * @default false
   */
  listed?: boolean | undefined
  /**
   * Lets the relay show a page at the site's friendly hostname while the site has no lease. For these visitors TLS ends at the relay: it
   * gets the head of their requests, with the site's cookies, which it has to look at no further than its end. It shows none for a
   * site with a certificate of its own, so use it with `certificate: 'shared'`. {@link Site.shareUrl} needs none of this.
   * @default false
   */
  awayPage?: boolean | undefined
  /**
   * Asks the relay for the address of each visitor, as `remote` in the handler's second argument. It is the relay's word, which the site
   * cannot check.
   * @default false; true for `expose`
   */
  visitorAddress?: boolean | undefined
  /**
   * The description of the site for the relay; others see it only if the site is `listed`. A relay accepts descriptions of
   * 4,096 characters, owners of 1,024, thumbnails (an address, or a picture as a data URL) of 262,144 and 16 tags of
   * 64. If the relay refuses some of it, the site is published without that, and dispatches an `error` event
   * (`metadata_refused`).
   * @default none
   */
  metadata?: SiteMetadata | undefined
  /**
   * The seconds for which the lease outlives a page that stops renewing it: a whole number from 1 to 600.
   * @default 120
   */
  ttl?: number | undefined
  /**
   * The most concurrent connections of visitors: a whole number from 1 to 3,500. When one more comes, the SDK closes
   * the one that was idle longest. It never closes one with a request, an open response or a WebSocket: if all
   * have one, visitors wait at the relay. An idle connection takes about 20 KB in a page, and 60 KB in Node.
   * @default 1,024; 2,048 with the native carrier of Node
   */
  maxConnections?: number | undefined
  /**
   * A signal that closes the site. If the site is not online yet, `publish` rejects with `aborted`.
   * @default none
   */
  signal?: AbortSignal | undefined
  /**
   * Called with the site before it connects. `publish` resolves only when visitors can connect, and a relay may make the
   * site wait until then. Add listeners for `statechange` and `error` here.
   * @default none
   */
  onSite?: ((site: Site) => void) | undefined
  /**
   * Called with each event, for logs and dashboards. No event contains a secret or a visitor's data.
   * @default none
   */
  debug?: ((event: DebugEvent) => void) | undefined
  /** The options of TLS between visitors and the SDK. */
  tls?: TlsOptions | undefined
  /**
   * The certificate that visitors see.
   * - `own`: the site creates a key that never leaves it, and gets a certificate from a relay that issues them. Until
   *   then, and at other relays, `shared` applies. At a relay without a certificate for all sites, the site waits
   * - `shared`: the relay's, whose key the relay keeps. The relay signs for each new visitor. At a relay without a certificate
   *   for all sites, `publish` rejects with `certificate_unavailable`. Use it when the site's name must stay secret: certificate
   *   authorities publish the names in their certificates
   * @default own
   */
  certificate?: CertificateKind | undefined
  /**
   * Offers HTTP/2 to visitors. The SDK does so only if it can load the code, which a service worker cannot, and
   * if the certificate is for this site alone: browsers share a connection among all hosts of a
   * certificate.
   * @default true
   */
  http2?: boolean | undefined
  /**
   * Tells browsers to use only https for the site's hostnames, for a year (`Strict-Transport-Security`, RFC 6797), in responses
   * whose handler does not set the field. Otherwise a page at `http:` and any port of the same hostname shares the site's cookies. Names
   * below `localhost` and `.local` never get it: they change their owner. A site that also serves plain HTTP at its own hostname, at a dedicated port, needs `false`.
   * @default true
   */
  hsts?: boolean | undefined
  /**
   * Replaces the global Request and Response with ones that keep Cookie, Host, Origin, User-Agent and Set-Cookie, which a
   * browser's own ones drop: frameworks copy requests and set cookies through them. They stay until `removeGlobals()` of
   * `@svc/sdk-browser/globals` is called. Node does not need this and ignores the option.
   * @default true in workers, where no other code uses them; false in a page, where it would affect other scripts
   */
  globals?: boolean | undefined
  /**
   * Who may come in. The SDK checks each request before the handler gets it, also WebSockets. It excludes `cache`, with which
   * visitors would bypass it.
   * @default none: everybody may
   */
  access?: AccessOptions | undefined
  /**
   * What happens to requests before the handler gets them, and to responses: redirects, rewrites, CORS, header fields, limits and a
   * maintenance page. It excludes `cache`, whose files the relay serves without them.
   * @default none
   */
  rules?: TrafficRules | undefined
  /**
   * Up to 8 domains of the caller's own, such as `shop.example.org`, at which the site is served too: see {@link Site.domains}, which says
   * which DNS records to set. The site gets a certificate for each from an ACME authority, with a key and an account that the relay never
   * has, unless one is brought. Relays that the site discovers do not get the domains.
   * @default none
   */
  domains?: readonly (string | BroughtDomain)[] | undefined
  /**
   * How the site gets certificates for its `domains`. Required unless each of them brings one.
   * @default none
   */
  acme?: AcmeOptions | undefined
  /**
   * Stores files at the relay, which serves them at the site's canonical hostname, even while the site is away. The relay terminates
   * TLS there and can read these files and visitors' requests to that hostname. This is the one exception to what
   * the relay cannot read. At a relay without a static cache the site is published without it, and dispatches an `error` event
   * (`cache_unavailable`). It cannot be combined with dedicated TCP and UDP ports.
   * @default none: the relay stores nothing
   */
  cache?: CacheOptions | undefined
}

/** SiteMetadata describes a site. The relay does not verify it. */
export type SiteMetadata = Omit<LeaseMetadata, 'hide'>

/** CertificateKind says whether visitors see the site's own certificate or the relay's. */
type CertificateKind = 'own' | 'shared'

export interface SiteOptions {
  relay: URL
  /** Undefined means the identity's name. */
  name: string | undefined
  fetch: FetchHandler
  /** In lower case. */
  allowFields: readonly string[] | undefined
  /** A private key, or the name of a stored one. */
  identity: Uint8Array | string | undefined
  allowCanonicalFallback: boolean
  invitation: string | undefined
  visitorAddress: boolean | undefined
  awayPage: boolean | undefined
  metadata: LeaseMetadata
  ttlS: number
  /** Undefined means the platform's default. */
  maxConnections: number | undefined
  signal: AbortSignal | undefined
  onSite: ((site: Site) => void) | undefined
  debug: ((event: DebugEvent) => void) | undefined
  tls: TlsSettings
  certificate: CertificateKind
  http2: boolean
  hsts: boolean
  cache: SiteCacheOptions | undefined
  /** publish-special.ts makes it of the option. */
  domains?: ServedDomains | undefined
}

/** The options that stay as they are given. */
type AsGiven = Pick<
  SiteOptions,
  'identity' | 'invitation' | 'maxConnections' | 'signal' | 'onSite' | 'debug' | 'visitorAddress' | 'awayPage'
>

/** The options of a site whose identity is known. */
export type NamedSite = SiteOptions & { name: string }

interface SiteCacheOptions {
  /** Returns the files at each check. */
  files: () => CacheFiles | Promise<CacheFiles>
  index: string
  fallback: boolean
  ttlS: number
}

type Rules = Readonly<Record<string, (value: unknown) => unknown>>

/** A private key passed as text, which is not a name. */
const KEY_AS_TEXT = /^(?:0x)?[\da-f]{64}$/i

/** The check of each option; all others are refused. */
const RULES: Rules = {
  relay: relayUrl,
  relays: Array.isArray,
  discover: () => true,
  fetch: isFunction,
  name: (name) => isText(name) && normalizeName(name),
  access: isRecord,
  rules: isRecord,
  domains: Array.isArray,
  acme: isRecord,
  cache: isRecord,
  allowCanonicalFallback: isBoolean,
  invitation: isText,
  listed: isBoolean,
  awayPage: isBoolean,
  visitorAddress: isBoolean,
  http2: isBoolean,
  hsts: isBoolean,
  globals: isBoolean,
  onSite: isFunction,
  debug: isFunction,
  signal: (signal) => isFunction((signal as AbortSignal | null)?.addEventListener),
  metadata: isRecord,
  allowFields: (names) => Array.isArray(names) && names.every(isText),
  identity: (identity) => (isText(identity) ? !KEY_AS_TEXT.test(identity) : isBytes(identity)),
  ttl: isWhole(1, LEASE_TTL_MAX_S),
  maxConnections: isWhole(1, CONNECTIONS_MAX),
  certificate: (kind) => kind === 'own' || kind === 'shared',
  tls: isRecord,
}
const TLS_RULES: Rules = {
  clientCertificates: isRecord,
  minVersion: (version) => version === 'TLSv1.3' || version === 'TLSv1.2',
  onSecret: isFunction,
}
/** The SDK checks the content of `files` each time, because it may change. */
const CACHE_RULES: Rules = {
  files: (files) =>
    isFunction(files) || (typeof files === 'object' && files && !isBlob(files) && !ArrayBuffer.isView(files)),
  index: (index) => isText(index) && index,
  fallback: isBoolean,
  ttl: isWhole(0, Number.MAX_SAFE_INTEGER),
}

/**
 * Checks the options of `publish`.
 * @throws SvcError `invalid_option` that names the option and the reason
 */
export async function readOptions(options: PublishOptions): Promise<SiteOptions> {
  try {
    return parseOptions(Object(options))
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    throw await explained('invalid_option', ['wrongOption', error.message, Object(options)])
  }
}

/**
 * Parses the options of `publish`.
 * @throws SvcError `invalid_option` whose message is the name of the option
 */
export function parseOptions(options: PublishOptions): SiteOptions {
  check(options, RULES)
  const { relay, name, fetch, allowFields, allowCanonicalFallback = false, listed, metadata } = options
  const { ttl = LEASE_TTL_DEFAULT_S, tls = {}, cache } = options
  const { certificate = 'own', http2 = true, hsts = true } = options
  check(tls, TLS_RULES, 'tls.')
  if (tls.minVersion === 'TLSv1.2' && certificate === 'shared') wrong('tls.minVersion')
  return {
    ...(options as AsGiven),
    relay: relayUrl(relay) ?? wrong('relay'),
    name: name && normalizeName(name),
    fetch: fetch ?? wrong('fetch'),
    allowFields: allowFields?.map((name) => name.toLowerCase()),
    allowCanonicalFallback,
    metadata: { ...metadata, hide: !listed },
    ttlS: ttl,
    // publish-special.ts replaces `clientCertificates`.
    tls: tls as TlsSettings,
    certificate,
    http2,
    hsts,
    cache: cache === undefined ? cache : parseCache(cache),
  }
}

function parseCache(cache: CacheOptions): SiteCacheOptions {
  check(cache, CACHE_RULES, 'cache.')
  const { files = wrong('cache.files'), index = 'index.html', fallback = true, ttl = 0 } = cache
  return { files: isFunction(files) ? files : () => files, index, fallback, ttlS: ttl }
}

/** @param prefix the prefix of option names in errors */
function check(options: object, rules: Rules, prefix = ''): void {
  for (const [name, value] of Object.entries(options))
    if (!Object.hasOwn(rules, name) || (value !== undefined && !rules[name]!(value))) wrong(prefix + name)
}

function wrong(option: string): never {
  throw new SvcError('invalid_option', option)
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean'
}

function isFunction<T>(value: T): value is Extract<T, (...args: never[]) => unknown> {
  return typeof value === 'function'
}

function isWhole(min: number, max: number) {
  return (value: unknown): boolean =>
    Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max
}
