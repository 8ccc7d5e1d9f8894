// The environment, read once: every variable, what it means to this process and what it may be.

import { isIP, isIPv6 } from 'node:net'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { RELAY_BUDGET_PER_MINUTE, SOURCE_BUDGET_PER_MINUTE } from '@svc/protocol'
import { normalizeIp } from '../client-address/ip-address.ts'
import { TrustedProxies } from '../client-address/trusted-proxies.ts'
import type { RateLimitSettings } from '../rate-limit/rate-limits.ts'
import { type UnusedSetting, unusedSettings } from './unused-settings.ts'

/** Settings are the settings of a relay, read from the environment and checked. */
export interface Settings {
  /** The relay's public base address; path and query are ignored. */
  url: URL
  /** Host of {@link url} with its port when that is not 443: the authority in messages and links. */
  host: string
  /** Normalized host name of {@link url}, under which leases are published. */
  rootHost: string
  /** Where the SNI listener binds. */
  sniPort: number
  /** Addresses at which visitors reach the relay, normalized; undefined: the relay finds them out. */
  publicIps: readonly string[] | undefined
  /** Directory of identity, policy and certificates. */
  identityPath: string
  /** What an administrator logs in with; undefined turns administration off. */
  adminToken: string | undefined
  /** Server gates of dedicated ports, with which a first policy begins. */
  portGates: PortGates
  /** Where dedicated ports are taken from, for TCP and UDP alike. */
  portRange: PortRange | undefined
  /** Whose word about their clients' addresses counts. */
  trustedProxies: TrustedProxies
  rateLimits: RateLimitSettings
  logLevel: string
  /** Where metrics are served; undefined: nowhere. */
  metricsAddress: BindAddress | undefined
  /** Processes that share the work, this one included. */
  workers: number
  /** Static files served at the root host, beside the API; undefined: the relay's own pages. */
  siteDir: string | undefined
  /** What the install endpoints serve. */
  installDir: string | undefined
  /** Variables that somebody set, and that do nothing. */
  unused: readonly UnusedSetting[]
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']
const PORT_MAX = 65_535
const HTTPS_PORT = 443
const LOOPBACK = '127.0.0.1'
/** What a listener may bind, and no packet can be sent to (RFC 6890). */
const UNSPECIFIED = ['0.0.0.0', '::']
/** What nobody guesses, however fast, when it is random: 96 bits in base64. */
const ADMIN_TOKEN_MIN_CHARS = 16

/** Where a listener binds. */
interface BindAddress {
  host: string
  port: number
}

/** The server's gates of dedicated ports. */
export interface PortGates {
  udp: boolean
  tcp: boolean
}

/** Both ends belong to it. */
export interface PortRange {
  min: number
  max: number
}

interface Setting<T> {
  meaning: string
  /** What an unset variable stands for … */
  default?: string
  /** … or, where that is no value, what follows from leaving it out. */
  unset?: string
  parse(value: string, name: string): T
}

/** In the working directory. */
export const IDENTITY_PATH_DEFAULT = '.svc'

/** Every variable that is read, in the order in which `--help` lists them. */
const TABLE = {
  SVC_URL: {
    meaning: 'public base address, such as https://relay.example.com; sites appear at names below its host',
    unset: 'required',
    parse: baseUrl,
  },
  SNI_PORT: {
    meaning: 'where the listener binds, when that is not the port of SVC_URL',
    unset: 'port of SVC_URL',
    parse: portNumber,
  },
  PUBLIC_IPS: {
    meaning: 'IPv4 and IPv6 addresses at which visitors reach the relay, separated by commas',
    unset: "this machine's public ones, or those of the root host",
    parse: ipAddresses,
  },
  IDENTITY_PATH: {
    meaning: 'directory of everything the relay keeps',
    default: IDENTITY_PATH_DEFAULT,
    parse: (value) => resolve(value),
  },
  ADMIN_TOKEN: {
    meaning: `what an administrator logs in with: a random value of ${ADMIN_TOKEN_MIN_CHARS} characters or more`,
    unset: 'administration is off',
    parse: bearerToken,
  },
  UDP_ENABLED: { meaning: 'gate of UDP ports, for a first policy', default: 'false', parse: flag },
  TCP_ENABLED: { meaning: 'gate of TCP ports, for a first policy', default: 'false', parse: flag },
  TRUSTED_PROXIES: {
    meaning: 'addresses and CIDR ranges of proxies that tell who their client is, separated by commas',
    unset: 'none',
    parse: trustedProxies,
  },
  SOURCE_BUDGET_PER_MINUTE: {
    meaning: 'what one address may ask for before it is authenticated; a registration costs 6',
    default: `${SOURCE_BUDGET_PER_MINUTE}`,
    parse: positiveInteger,
  },
  RELAY_BUDGET_PER_MINUTE: {
    meaning: 'the same for all addresses together',
    default: `${RELAY_BUDGET_PER_MINUTE}`,
    parse: positiveInteger,
  },
  MIN_PORT: {
    meaning: 'first port that a lease may get; TCP and UDP share the range',
    unset: 'no dedicated ports',
    parse: portNumber,
  },
  MAX_PORT: { meaning: 'last port of that range', unset: 'no dedicated ports', parse: portNumber },
  LOG_LEVEL: {
    meaning: `one of ${LOG_LEVELS.join(', ')}`,
    default: 'info',
    parse: (value, name) => oneOf(name, value, LOG_LEVELS),
  },
  METRICS_ADDR: {
    meaning:
      'where Prometheus metrics are served over plain HTTP: PORT (of the loopback address) or HOST:PORT',
    unset: 'no metrics',
    parse: bindAddress,
  },
  SVC_WORKERS: {
    meaning: 'processes that share visitors and sites, at most one for each core',
    default: '1',
    parse: workers,
  },
  SVC_SITE_DIR: {
    meaning: 'static files for the root host, beside the API',
    unset: "the relay's own pages",
    parse: (value) => resolve(value),
  },
  SVC_INSTALL_DIR: {
    meaning: 'directory with install.sh, install.ps1 and bin/, for /api/install',
    unset: 'nothing to install',
    parse: (value) => resolve(value),
  },
} satisfies Record<string, Setting<unknown>>

type Table = typeof TABLE

/** The settings as `--help` shows them. */
export const SETTINGS: readonly { name: string; meaning: string; default: string }[] = Object.entries(
  TABLE as Record<string, Setting<unknown>>,
).map(([name, setting]) => ({
  name,
  meaning: setting.meaning,
  default: setting.default ?? setting.unset ?? '',
}))

/** @throws SettingsError that names the setting and what it needs */
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
  return {
    url,
    host: url.host,
    rootHost: url.hostname,
    // Without a NAT in between the listener is where the URL says; SNI_PORT is for the other cases.
    sniPort: optional('SNI_PORT') ?? (url.port === '' ? HTTPS_PORT : Number(url.port)),
    publicIps: optional('PUBLIC_IPS'),
    identityPath: read('IDENTITY_PATH'),
    adminToken: optional('ADMIN_TOKEN'),
    portGates: { udp: read('UDP_ENABLED'), tcp: read('TCP_ENABLED') },
    portRange: portRange(optional('MIN_PORT'), optional('MAX_PORT')),
    trustedProxies: optional('TRUSTED_PROXIES') ?? new TrustedProxies(''),
    rateLimits: {
      networkPerMinute: read('SOURCE_BUDGET_PER_MINUTE'),
      relayPerMinute: read('RELAY_BUDGET_PER_MINUTE'),
    },
    logLevel: read('LOG_LEVEL'),
    metricsAddress: optional('METRICS_ADDR'),
    workers: read('SVC_WORKERS'),
    siteDir: optional('SVC_SITE_DIR'),
    installDir: optional('SVC_INSTALL_DIR'),
    unused: unusedSettings(env, Object.keys(TABLE)),
  }
}

/** A SettingsError names a setting that is missing, wrong, or does not go with another one. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
  readonly setting: string

  constructor(setting: string, need: string) {
    super(`${setting}: ${need}`)
    this.setting = setting
  }
}

/** Whether names under this host resolve to the machine itself (RFC 6761 §6.3). */
export function isLocalhost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost')
}

function baseUrl(value: string): URL {
  const url = URL.parse(value)
  if (url === null)
    throw new SettingsError('SVC_URL', `"${value}" is not a URL such as https://relay.example.com`)
  if (url.protocol !== 'https:') throw new SettingsError('SVC_URL', 'must begin with https://')
  const host = url.hostname
  if (host.startsWith('[') || isIP(host) !== 0)
    throw new SettingsError('SVC_URL', 'needs a host name: sites are published at names below it')
  return url
}

function portNumber(value: string, setting: string): number {
  const port = Number(value)
  if (!/^\d+$/.test(value) || port < 1 || port > PORT_MAX)
    throw new SettingsError(setting, `"${value}" is not a port from 1 to ${PORT_MAX}`)
  return port
}

function ipAddresses(value: string, setting: string): string[] {
  const addresses = value.split(',').map((part) => {
    const text = part.trim()
    const address = text.includes('%') ? undefined : normalizeIp(text)
    if (address === undefined) throw new SettingsError(setting, `"${text}" is not an IP address`)
    if (UNSPECIFIED.includes(address))
      throw new SettingsError(setting, `"${text}" is not an address at which visitors reach the relay`)
    return address
  })
  return [...new Set(addresses)]
}

function trustedProxies(value: string, setting: string): TrustedProxies {
  try {
    return new TrustedProxies(value)
  } catch (error) {
    throw new SettingsError(setting, (error as Error).message)
  }
}

function positiveInteger(value: string, setting: string): number {
  if (!/^[1-9]\d{0,8}$/.test(value))
    throw new SettingsError(setting, `"${value}" is not a whole number from 1 to 999999999`)
  return Number(value)
}

function workers(value: string, setting: string): number {
  const cores = availableParallelism()
  const count = Number(value)
  if (!/^\d+$/.test(value) || count < 1 || count > cores)
    throw new SettingsError(
      setting,
      `"${value}" is not a number from 1 to ${cores}, the cores of this machine`,
    )
  return count
}

/** RFC 6750 §2.1: what an `Authorization` header can carry. */
function bearerToken(value: string, setting: string): string {
  if (!/^[\x21-\x7e]+$/.test(value))
    throw new SettingsError(setting, 'must be made of visible ASCII characters, without spaces')
  if (value.length < ADMIN_TOKEN_MIN_CHARS)
    throw new SettingsError(
      setting,
      `needs ${ADMIN_TOKEN_MIN_CHARS} characters or more; openssl rand -hex 32 makes some`,
    )
  return value
}

function portRange(min: number | undefined, max: number | undefined): PortRange | undefined {
  if (min === undefined && max === undefined) return undefined
  if (min === undefined || max === undefined)
    throw new SettingsError(
      min === undefined ? 'MIN_PORT' : 'MAX_PORT',
      'MIN_PORT and MAX_PORT need each other',
    )
  if (min > max) throw new SettingsError('MAX_PORT', `${max} is below MIN_PORT, ${min}`)
  return { min, max }
}

/** Without a host it is loopback: what tells of this machine is for this machine, unless somebody decides otherwise. */
function bindAddress(value: string, setting: string): BindAddress {
  const [, ipv6, name, port] = /^(?:(?:\[([^[\]]*)\]|([^:[\]]*)):)?(\d+)$/.exec(value) ?? []
  const host = ipv6 ?? (name || LOOPBACK)
  if (port === undefined || !(ipv6 === undefined ? isHost(host) : isIPv6(host)))
    throw new SettingsError(setting, `"${value}" is not PORT, HOST:PORT or [IPV6]:PORT`)
  return { host, port: portNumber(port, setting) }
}

function isHost(text: string): boolean {
  return isIP(text) !== 0 || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(text)
}

function flag(value: string, setting: string): boolean {
  return oneOf(setting, value, ['true', 'false']) === 'true'
}

function oneOf(setting: string, value: string, allowed: readonly string[]): string {
  if (!allowed.includes(value)) throw new SettingsError(setting, `one of ${allowed.join(', ')} is needed`)
  return value
}
