// Reads the settings from the environment: every variable, its meaning, default and valid values.

import { resolve } from 'node:path'
import { RELAY_BUDGET_PER_MINUTE, SOURCE_BUDGET_PER_MINUTE } from '@svc/protocol'
import { TrustedProxies } from '../client-address/trusted-proxies.ts'
import { ACME_TABLE, type AcmeSettings, possibleBinding } from './acme-settings.ts'
import { CACHE_TABLE, type CacheSettings } from './cache-settings.ts'
import { CLUSTER_TABLE, type ClusterSettings, possibleCluster } from './cluster-settings.ts'
import { DISCOVERY_TABLE, type DiscoverySettings } from './discovery-settings.ts'
import { DNS_TABLE, PROVIDERS_WITHOUT_DNSSEC } from './dns-settings.ts'
import { ACME, ADDRESSES, idleSettings, NAME_SERVER, PORTS } from './features.ts'
import { OVERLAY_TABLE, type OverlaySettings, possibleOverlay } from './overlay-settings.ts'
import { PAYMENT_TABLE, type PaymentSettings, possiblePayment } from './payment-settings.ts'
import type { Setting } from './setting.ts'
import {
  ADMIN_TOKEN_MIN_CHARS,
  addressesOf,
  type BindAddress,
  baseUrl,
  bearerToken,
  bindAddress,
  type ConfiguredAddresses,
  type DnsAddress,
  dnsAddresses,
  flag,
  ipAddress,
  ipAddresses,
  isLocalhost,
  oneOf,
  portNumber,
  positiveInteger,
  publicAddresses,
  publicBindAddress,
  trustedProxies,
  workers,
} from './setting-values.ts'
import { SettingsError } from './settings-error.ts'
import { type UnusedSetting, unusedSettings } from './unused-settings.ts'

export { isLocalhost, SettingsError }

/** Settings are the settings of a relay, read from the environment and checked. */
export interface Settings {
  /** The relay's public base address; path and query are ignored. */
  url: URL
  /** Host of {@link url}, with its port unless that is 443: the authority in messages and links. */
  host: string
  /** The root host: normalized host name of {@link url}, below which sites get their hostnames. */
  rootHost: string
  /** TCP port of the SNI listener. */
  sniPort: number
  /** The ports that visitors may name: that of {@link url}, and {@link sniPort}. */
  ownPorts: readonly number[]
  /** IP address at which all listeners listen that have no address of their own; undefined: all addresses of this machine. */
  listenAddress: string | undefined
  publicAddresses: ConfiguredAddresses
  /** Directory of identity, policy and certificates. */
  identityPath: string
  /** Secret with which an administrator logs in; undefined turns administration off. */
  adminToken: string | undefined
  /** Whether a first policy gives UDP and TCP ports. */
  portGates: PortGates
  /** Range of dedicated ports, for TCP and UDP alike; undefined: the relay has none. */
  portRange: PortRange | undefined
  /** Proxies that the relay believes about their clients' addresses. */
  trustedProxies: TrustedProxies
  rateLimits: RateLimitSettings
  acme: AcmeSettings
  /** What changes DNS records: `embedded`, an external provider, or `exec:` and a path; undefined: `embedded`. */
  acmeDnsProvider: string | undefined
  /** Addresses of the servers that tell whether a record is there; undefined: the name servers of its zone. */
  acmeDnsServers: readonly string[] | undefined
  /** What the ACME authority allows. */
  acmeRates: { ordersPerHour: number; certificatesPerWeek: number }
  /** Which sites get certificates of their own; undefined: `approved` where the relay has a wildcard, else `all`. */
  siteCertificates: SiteCertificateChoice | undefined
  /** Whether the relay publishes ENS names. */
  ensGasless: boolean
  /** The static cache. */
  cache: CacheSettings
  /** The settings of discovery, by which the relay learns of other relays. */
  discovery: DiscoverySettings
  /** The overlay that links the relay with others. */
  overlay: OverlaySettings
  /** The payment facilitator. */
  payment: PaymentSettings
  /** The other machines of this relay; undefined: it is one machine. */
  cluster: ClusterSettings | undefined
  /** Host that addresses of dedicated ports name; undefined: the root host. */
  portHost: string | undefined
  logLevel: string
  /** Address of the metrics listener; undefined: there is none. */
  metricsAddress: BindAddress | undefined
  /** Addresses of the DNS server, where the relay has one. */
  dnsAddresses: readonly DnsAddress[]
  /** Address of the listener that redirects plain HTTP to https; without a host: every address; undefined: there is none. */
  httpRedirectAddress: { host: string | undefined; port: number } | undefined
  /** Processes of the relay, the primary included. */
  workers: number
  /** Directory of static files for the root host; undefined: the relay serves its built-in pages. */
  siteDir: string | undefined
  /** Directory that `/api/install` serves; undefined: that which the relay brings along. */
  installDir: string | undefined
  /** Variables that are set and that the relay does not know. */
  unused: readonly UnusedSetting[]
  /** The values of the variables that are set and that it knows. */
  given: ReadonlyMap<string, string>
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']
const SITE_CERTIFICATE_CHOICES = ['off', 'approved', 'all'] as const
const HTTPS_PORT = 443
/** The first port that is no system port (RFC 6335 §6). */
const PORTS_OF_USERS = 1024
/** The address of a relay on localhost: another network, such as a café’s, has no business there. */
const LOOPBACK = '127.0.0.1'
const EVERY_ADDRESS = '::'

/** Limits of the requests of clients that are not authenticated yet, in units a minute. */
export interface RateLimitSettings {
  networkPerMinute: number
  relayPerMinute: number
  /** Whether clients on the relay's own machine have no such limit: a relay on localhost whose operator has set none. */
  sparesLoopback?: boolean
}

/**
 * Which sites get certificates of their own.
 * - `off`: none
 * - `approved`: those whose identity an administrator approved by name
 * - `all`: all that visitors may reach
 */
type SiteCertificateChoice = (typeof SITE_CERTIFICATE_CHOICES)[number]

/** Whether the relay gives dedicated ports. */
export interface PortGates {
  udp: boolean
  tcp: boolean
}

/** A range of ports; both ends belong to it. */
export interface PortRange {
  min: number
  max: number
}

/** Relative to the working directory. */
export const IDENTITY_PATH_DEFAULT = '.svc'

/** Every setting, in the order in which `--help` lists them. */
const TABLE = {
  SVC_URL: {
    meaning: 'public base address, such as https://relay.example.com; sites appear at names below its host',
    unset: 'required',
    parse: baseUrl,
  },
  SNI_PORT: {
    meaning: 'port of the listener, when it differs from the port of SVC_URL',
    unset: 'the port of SVC_URL',
    parse: portNumber,
  },
  BIND_ADDRESS: {
    meaning:
      'IP address at which the relay listens, at all its ports; :: stands for every address of the machine',
    unset: `every address; ${LOOPBACK} where the host of SVC_URL is localhost or ends in .localhost`,
    parse: ipAddress,
  },
  PUBLIC_IPV4: {
    feature: ADDRESSES,
    meaning: 'IPv4 addresses at which visitors reach the relay, separated by commas',
    unset: "the machine's public addresses, or those of the root host",
    parse: (value, name) => addressesOf(4, value, name),
  },
  PUBLIC_IPV6: {
    feature: ADDRESSES,
    meaning: 'the same for IPv6',
    unset: "the machine's public addresses, or those of the root host",
    parse: (value, name) => addressesOf(6, value, name),
  },
  PUBLIC_IPS: {
    feature: ADDRESSES,
    meaning:
      'both in one: a family without an address has none; PUBLIC_IPV4 and PUBLIC_IPV6 override their family',
    unset: 'none',
    parse: ipAddresses,
  },
  IDENTITY_PATH: {
    meaning: 'state directory: identity, policy, certificates and leases',
    default: IDENTITY_PATH_DEFAULT,
    parse: (value) => resolve(value),
  },
  ADMIN_TOKEN: {
    meaning: `secret of the administrator: a random value of ${ADMIN_TOKEN_MIN_CHARS} characters or more`,
    unset: 'administration is off',
    parse: bearerToken,
  },
  UDP_ENABLED: {
    feature: PORTS,
    meaning: 'whether a first policy gives UDP ports',
    default: 'false',
    parse: flag,
  },
  TCP_ENABLED: {
    feature: PORTS,
    meaning: 'whether a first policy gives TCP ports',
    default: 'false',
    parse: flag,
  },
  TRUSTED_PROXIES: {
    meaning: 'addresses and CIDR ranges of proxies that name the client address, separated by commas',
    unset: 'none',
    parse: trustedProxies,
  },
  SOURCE_BUDGET_PER_MINUTE: {
    meaning:
      'units that one network may use per minute without a token, and six times as many at once; a registration costs 6',
    unset: `${SOURCE_BUDGET_PER_MINUTE}; none for clients on this machine where the host of SVC_URL is localhost or ends in .localhost`,
    parse: positiveInteger,
  },
  RELAY_BUDGET_PER_MINUTE: {
    meaning: 'units that all networks together may use per minute without a token',
    default: `${RELAY_BUDGET_PER_MINUTE}`,
    parse: positiveInteger,
  },
  ...DNS_TABLE,
  ...ACME_TABLE,
  SITE_CERTIFICATES: {
    feature: ACME,
    meaning: `which sites get certificates of their own: ${SITE_CERTIFICATE_CHOICES.join(', ')}`,
    unset: 'approved where the relay has a wildcard certificate, else all',
    parse: (value, name) => oneOf(name, value, SITE_CERTIFICATE_CHOICES),
  },
  MIN_PORT: {
    meaning: 'first dedicated port; TCP and UDP share the range',
    unset: 'no dedicated ports',
    parse: portNumber,
  },
  MAX_PORT: { meaning: 'last dedicated port', unset: 'no dedicated ports', parse: portNumber },
  PORT_RANGE_UNCHECKED: {
    feature: PORTS,
    meaning: 'whether that range may have ports below 1024, and those of the relay itself',
    default: 'false',
    parse: flag,
  },
  ENS_GASLESS_ENABLED: {
    meaning:
      'whether the relay publishes ENS names of its host and of sites in the DNS, without transactions',
    default: 'false',
    parse: flag,
  },
  ...CACHE_TABLE,
  ...DISCOVERY_TABLE,
  ...OVERLAY_TABLE,
  ...PAYMENT_TABLE,
  ...CLUSTER_TABLE,
  LOG_LEVEL: {
    meaning: `one of ${LOG_LEVELS.join(', ')}`,
    default: 'info',
    parse: (value, name) => oneOf(name, value, LOG_LEVELS),
  },
  METRICS_ADDR: {
    meaning: 'address of the Prometheus metrics over plain HTTP: PORT (on the loopback address) or HOST:PORT',
    unset: 'no metrics',
    parse: bindAddress,
  },
  DNS_ADDR: {
    feature: NAME_SERVER,
    meaning:
      'addresses of the DNS server, over UDP and TCP: PORT (on all addresses) or IP:PORT, separated by commas',
    default: '53',
    parse: dnsAddresses,
  },
  HTTP_REDIRECT_ADDR: {
    meaning: 'address of a listener that redirects plain HTTP to https: PORT (on every address) or HOST:PORT',
    unset: 'no redirects',
    parse: publicBindAddress,
  },
  SVC_WORKERS: {
    meaning: 'processes that share visitors and sites, at most one per core',
    default: '1',
    parse: workers,
  },
  SVC_SITE_DIR: {
    meaning: 'directory of static files for the root host, beside the API',
    unset: 'the built-in pages',
    parse: (value) => resolve(value),
  },
  SVC_INSTALL_DIR: {
    meaning:
      'directory with bin/ for /api/install, and own scripts install.sh and install.ps1 if there are any',
    unset: 'the downloads that the relay brings along, if any',
    parse: (value) => resolve(value),
  },
} satisfies Record<string, Setting<unknown>>

type Table = typeof TABLE

/** A setting as `--help` and the packages list it. */
export interface SettingText {
  name: string
  meaning: string
  /** The default value, or the effect of leaving the setting out. */
  default: string
  /** Whether {@link default} is a value. */
  hasDefault: boolean
}

/** Every setting, in the order of `--help`. */
export const SETTINGS: readonly SettingText[] = Object.entries(TABLE as Record<string, Setting<unknown>>).map(
  ([name, setting]) => ({
    name,
    meaning: setting.meaning,
    default: setting.default ?? setting.unset ?? '',
    hasDefault: setting.default !== undefined,
  }),
)

/** Settings of the operator that have no effect, because what they belong to is off. */
export function idleSettingsOf(settings: Settings, isManaged: boolean): UnusedSetting[] {
  return idleSettings(TABLE, { settings, isManaged })
}

/** Reads all settings. @throws SettingsError that names a setting and the problem */
export function readSettings(env: Record<string, string | undefined>): Settings {
  /** An empty variable counts as unset. */
  const optional = <K extends keyof Table>(name: K): ReturnType<Table[K]['parse']> | undefined => {
    const setting: Setting<unknown> = TABLE[name]
    const value = env[name] || setting.default
    return value === undefined ? undefined : (setting.parse(value, name) as ReturnType<Table[K]['parse']>)
  }
  const read = <K extends keyof Table>(name: K): ReturnType<Table[K]['parse']> => {
    const value = optional(name)
    if (value === undefined) throw new SettingsError(name, `is needed: ${TABLE[name].meaning}`)
    return value
  }
  const url = read('SVC_URL')
  // Behind a NAT the listener may have another port than the URL.
  const urlPort = Number(url.port || HTTPS_PORT)
  const sniPort = optional('SNI_PORT') ?? urlPort
  const redirects = optional('HTTP_REDIRECT_ADDR')
  const ownListeners = (): Record<string, number | undefined> => ({
    SNI_PORT: sniPort,
    METRICS_ADDR: optional('METRICS_ADDR')?.port,
    HTTP_REDIRECT_ADDR: redirects?.port,
    CLUSTER_LISTEN_PORT: optional('CLUSTER_LISTEN_PORT') ?? optional('CLUSTER_ADDR')?.port,
  })
  const networkPerMinute = optional('SOURCE_BUDGET_PER_MINUTE')
  const listenAddress = listenAddressOf(optional('BIND_ADDRESS'), url.hostname)
  const ensGasless = possibleEns(read('ENS_GASLESS_ENABLED'), url.hostname, env.ACME_DNS_PROVIDER)
  return {
    url,
    host: url.host,
    rootHost: url.hostname,
    sniPort,
    ownPorts: [urlPort, sniPort],
    listenAddress,
    publicAddresses: publicAddresses(
      optional('PUBLIC_IPS'),
      optional('PUBLIC_IPV4'),
      optional('PUBLIC_IPV6'),
    ),
    identityPath: read('IDENTITY_PATH'),
    adminToken: optional('ADMIN_TOKEN'),
    portGates: { udp: read('UDP_ENABLED'), tcp: read('TCP_ENABLED') },
    portRange: possibleRange(
      portRange(optional('MIN_PORT'), optional('MAX_PORT')),
      read('PORT_RANGE_UNCHECKED') ? undefined : ownListeners,
    ),
    trustedProxies: optional('TRUSTED_PROXIES') ?? new TrustedProxies(''),
    rateLimits: {
      networkPerMinute: networkPerMinute ?? SOURCE_BUDGET_PER_MINUTE,
      relayPerMinute: read('RELAY_BUDGET_PER_MINUTE'),
      sparesLoopback: networkPerMinute === undefined && isLocalhost(url.hostname),
    },
    acme: {
      isAgreed: read('ACME_AGREE'),
      directory: read('ACME_DIRECTORY'),
      email: optional('ACME_EMAIL'),
      externalAccount: possibleBinding(optional('ACME_EAB_KID'), optional('ACME_EAB_HMAC')),
      caFile: optional('ACME_CA'),
      challenge: read('ACME_CHALLENGE'),
    },
    acmeDnsProvider: optional('ACME_DNS_PROVIDER'),
    acmeDnsServers: optional('ACME_DNS_SERVERS'),
    acmeRates: {
      ordersPerHour: read('ACME_ORDERS_PER_HOUR'),
      certificatesPerWeek: read('ACME_CERTIFICATES_PER_WEEK'),
    },
    siteCertificates: optional('SITE_CERTIFICATES'),
    ensGasless,
    cache: {
      isEnabled: read('STATIC_CACHE_ENABLED'),
      bytes: read('STATIC_CACHE_BYTES'),
      ttlMaxS: read('STATIC_CACHE_TTL_MAX'),
    },
    discovery: possibleDiscovery(
      {
        isEnabled: read('DISCOVERY'),
        bootstraps: optional('BOOTSTRAPS') ?? [],
        allowsLoopback: read('DISCOVERY_ALLOW_LOOPBACK_FOR_TESTS'),
      },
      url.hostname,
    ),
    overlay: possibleOverlay(
      { configFile: optional('OVERLAY_CONFIG'), wireguardPort: optional('WIREGUARD_PORT') },
      read('DISCOVERY'),
      read('UDP_ENABLED') && optional('MIN_PORT') !== undefined ? sniPort : undefined,
    ),
    payment: possiblePayment({
      isEnabled: read('X402_ENABLED'),
      network: read('X402_TESTNET') ? 'sui:testnet' : 'sui:mainnet',
      payTo: optional('X402_PAY_TO'),
      endpoints: optional('X402_ENDPOINTS'),
    }),
    cluster: possibleCluster(
      {
        engine: optional('CLUSTER_URL'),
        address: optional('CLUSTER_ADDR'),
        listenPort: optional('CLUSTER_LISTEN_PORT'),
        secret: optional('CLUSTER_SECRET'),
        allowsPlaintext: read('CLUSTER_ALLOW_PLAINTEXT'),
      },
      [
        ...(optional('OVERLAY_CONFIG') === undefined ? [] : ['OVERLAY_CONFIG']),
        ...(optional('WIREGUARD_PORT') === undefined ? [] : ['WIREGUARD_PORT']),
        ...(read('X402_ENABLED') ? ['X402_ENABLED'] : []),
        ...(ensGasless ? ['ENS_GASLESS_ENABLED'] : []),
      ],
    ),
    portHost: optional('PORT_HOST'),
    logLevel: read('LOG_LEVEL'),
    metricsAddress: optional('METRICS_ADDR'),
    dnsAddresses: read('DNS_ADDR').map(({ host = listenAddress, port }) => ({ host, port })),
    httpRedirectAddress: redirects && { host: redirects.host ?? listenAddress, port: redirects.port },
    workers: read('SVC_WORKERS'),
    siteDir: optional('SVC_SITE_DIR'),
    installDir: optional('SVC_INSTALL_DIR'),
    unused: unusedSettings(env, Object.keys(TABLE)),
    given: new Map(Object.keys(TABLE).flatMap((name) => (env[name] ? [[name, env[name]]] : []))),
  }
}

/** @returns undefined for every address */
function listenAddressOf(given: string | undefined, rootHost: string): string | undefined {
  const address = given ?? (isLocalhost(rootHost) ? LOOPBACK : EVERY_ADDRESS)
  return address === EVERY_ADDRESS ? undefined : address
}

function portRange(min: number | undefined, max: number | undefined): PortRange | undefined {
  if (min === undefined && max === undefined) return undefined
  if (min === undefined || max === undefined)
    throw new SettingsError(
      min === undefined ? 'MIN_PORT' : 'MAX_PORT',
      'MIN_PORT and MAX_PORT must both be set',
    )
  if (min > max) throw new SettingsError('MAX_PORT', `${max} is below MIN_PORT, ${min}`)
  return { min, max }
}

/**
 * Strangers get these ports. Below 1024 are those of well-known services, among them 25 (mail), 53 (DNS), 80 and 443 (web), at which
 * a site would pass for the relay.
 * @param own returns the ports of the relay's listeners, by their setting; undefined: the operator wants any range
 * @throws SettingsError
 */
function possibleRange(
  range: PortRange | undefined,
  own: (() => Record<string, number | undefined>) | undefined,
): PortRange | undefined {
  if (range === undefined || own === undefined) return range
  const { min, max } = range
  const allow = 'PORT_RANGE_UNCHECKED=true allows it'
  if (min < PORTS_OF_USERS)
    throw new SettingsError(
      'MIN_PORT',
      `${min} is below ${PORTS_OF_USERS}, where well-known services are, such as 25, 53, 80 and 443: ${allow}`,
    )
  for (const [name, port] of Object.entries(own()))
    if (port !== undefined && port >= min && port <= max)
      throw new SettingsError('MIN_PORT', `${min} to ${max} has ${port}, the relay's own (${name}): ${allow}`)
  return range
}

function possibleDiscovery(discovery: DiscoverySettings, rootHost: string): DiscoverySettings {
  if (discovery.isEnabled && !discovery.allowsLoopback && isLocalhost(rootHost))
    throw new SettingsError('DISCOVERY', `needs a public host: no other relay takes ${rootHost}`)
  return discovery
}

function possibleEns(isOn: boolean, rootHost: string, provider: string | undefined): boolean {
  const setting = 'ENS_GASLESS_ENABLED'
  if (isOn && isLocalhost(rootHost))
    throw new SettingsError(setting, `needs a public host: ${rootHost} is not in the DNS`)
  if (isOn && PROVIDERS_WITHOUT_DNSSEC.includes(provider ?? ''))
    throw new SettingsError(
      setting,
      `is not possible with ACME_DNS_PROVIDER=${provider}, whose DNSSEC nobody but its users can turn on; embedded has it`,
    )
  return isOn
}
