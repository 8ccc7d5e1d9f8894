// The environment, read once: what the specification's settings mean to this process.

import { isIP } from 'node:net'
import { resolve } from 'node:path'

export interface Settings {
  /** The relay's public base address; path and query are ignored. */
  url: URL
  /** Host of {@link url} with its port when that is not 443: the authority in messages and links. */
  host: string
  /** Normalized host name of {@link url}, under which leases are published. */
  rootHost: string
  /** Where the SNI listener binds. */
  sniPort: number
  /** Directory of identity, policy and certificates. */
  identityPath: string
  /** What an administrator logs in with; undefined turns administration off. */
  adminToken: string | undefined
  /** Server gates of dedicated ports, with which a first policy begins. */
  portGates: PortGates
  logLevel: string
  /** Static files served at the root host, beside the API. */
  siteDir: string | undefined
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']
const PORT_MAX = 65_535
const HTTPS_PORT = 443

/** The server's gates of dedicated ports. */
export interface PortGates {
  udp: boolean
  tcp: boolean
}

/** @throws SettingsError that names the setting and what it needs */
export function readSettings(env: Record<string, string | undefined>): Settings {
  const url = baseUrl(env.SVC_URL)
  const port = url.port === '' ? HTTPS_PORT : Number(url.port)
  return {
    url,
    host: url.host,
    rootHost: url.hostname,
    // Without a NAT in between the listener is where the URL says; SNI_PORT is for the other cases.
    sniPort: env.SNI_PORT ? portNumber('SNI_PORT', env.SNI_PORT) : port,
    identityPath: resolve(env.IDENTITY_PATH || '.svc'),
    adminToken: env.ADMIN_TOKEN || undefined,
    portGates: { udp: flag('UDP_ENABLED', env.UDP_ENABLED), tcp: flag('TCP_ENABLED', env.TCP_ENABLED) },
    logLevel: oneOf('LOG_LEVEL', env.LOG_LEVEL || 'info', LOG_LEVELS),
    siteDir: env.SVC_SITE_DIR ? resolve(env.SVC_SITE_DIR) : undefined,
  }
}

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

function baseUrl(value: string | undefined): URL {
  const need = 'the public address of the relay is needed, such as https://relay.example.com'
  if (!value) throw new SettingsError('SVC_URL', need)
  const url = URL.parse(value)
  if (url === null) throw new SettingsError('SVC_URL', `"${value}" is not a URL; ${need}`)
  if (url.protocol !== 'https:') throw new SettingsError('SVC_URL', 'must begin with https://')
  const host = url.hostname
  if (host.startsWith('[') || isIP(host) !== 0)
    throw new SettingsError('SVC_URL', 'needs a host name: sites are published at names below it')
  return url
}

function portNumber(setting: string, value: string): number {
  const port = Number(value)
  if (!/^\d+$/.test(value) || port < 1 || port > PORT_MAX)
    throw new SettingsError(setting, `"${value}" is not a port from 1 to ${PORT_MAX}`)
  return port
}

function flag(setting: string, value: string | undefined): boolean {
  return oneOf(setting, value || 'false', ['true', 'false']) === 'true'
}

function oneOf(setting: string, value: string, allowed: readonly string[]): string {
  if (!allowed.includes(value)) throw new SettingsError(setting, `one of ${allowed.join(', ')} is needed`)
  return value
}
