// Parses the value of one setting: a port, addresses, a flag, a secret.

import { isIP, isIPv6 } from 'node:net'
import { availableParallelism } from 'node:os'
import { TrustedProxies } from '../client-address/trusted-proxies.ts'
import { SettingsError } from './settings-error.ts'

const PORT_MAX = 65_535
/** The loopback address, which only this machine can reach. */
export const LOOPBACK = '127.0.0.1'
/** 96 random bits in base64, which nobody can guess. */
export const ADMIN_TOKEN_MIN_CHARS = 16

/** The address of a listener. */
export interface BindAddress {
  host: string
  port: number
}

export function portNumber(value: string, setting: string): number {
  const port = Number(value)
  if (!/^\d+$/.test(value) || port < 1 || port > PORT_MAX)
    throw new SettingsError(setting, `"${value}" is not a port from 1 to ${PORT_MAX}`)
  return port
}

/** Parses the address of listeners. `::` stands for every address of either family. */
export function ipAddress(value: string, setting: string): string {
  const address = value.trim()
  if (isIP(address) === 0) throw new SettingsError(setting, `"${value}" is not an IP address`)
  return address
}

export function trustedProxies(value: string, setting: string): TrustedProxies {
  try {
    return new TrustedProxies(value)
  } catch (error) {
    throw new SettingsError(setting, (error as Error).message)
  }
}

export function positiveInteger(value: string, setting: string): number {
  if (!/^[1-9]\d{0,8}$/.test(value))
    throw new SettingsError(setting, `"${value}" is not a whole number from 1 to 999999999`)
  return Number(value)
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Parses a duration such as `90m`: a whole number of seconds, or of the unit behind it. @returns milliseconds */
export function duration(value: string, setting: string, minMs: number, maxMs: number): number {
  const [, count, unit = 's'] = /^(\d{1,9})([smhd]?)$/.exec(value) ?? []
  if (count === undefined) throw new SettingsError(setting, `"${value}" is not a duration such as 90m or 24h`)
  const ms = Number(count) * (UNITS_MS[unit || 's'] as number)
  if (ms < minMs || ms > maxMs)
    throw new SettingsError(
      setting,
      `must be from ${minMs / 1000}s to ${maxMs / 1000}s, and "${value}" is not`,
    )
  return ms
}

export function workers(value: string, setting: string): number {
  const cores = availableParallelism()
  const count = Number(value)
  if (!/^\d+$/.test(value) || count < 1 || count > cores)
    throw new SettingsError(
      setting,
      `"${value}" is not a number from 1 to ${cores}, the cores of this machine`,
    )
  return count
}

/** Parses a token that an `Authorization` header can carry (RFC 6750 §2.1). */
export function bearerToken(value: string, setting: string): string {
  if (!/^[\x21-\x7e]+$/.test(value))
    throw new SettingsError(setting, 'must consist of visible ASCII characters without spaces')
  if (value.length < ADMIN_TOKEN_MIN_CHARS)
    throw new SettingsError(
      setting,
      `needs ${ADMIN_TOKEN_MIN_CHARS} characters or more; openssl rand -hex 32 prints a random value`,
    )
  return value
}

/** Parses PORT or HOST:PORT. The default host is loopback, since metrics describe the machine. */
export function bindAddress(value: string, setting: string): BindAddress {
  const [, ipv6, name, port] = /^(?:(?:\[([^[\]]*)\]|([^:[\]]*)):)?(\d+)$/.exec(value) ?? []
  const host = ipv6 ?? (name || LOOPBACK)
  if (port === undefined || !(ipv6 === undefined ? isHost(host) : isIPv6(host)))
    throw new SettingsError(setting, `"${value}" is not PORT, HOST:PORT or [IPV6]:PORT`)
  return { host, port: portNumber(port, setting) }
}

function isHost(text: string): boolean {
  return isIP(text) !== 0 || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(text)
}

export function flag(value: string, setting: string): boolean {
  return oneOf(setting, value, ['true', 'false']) === 'true'
}

export function oneOf<T extends string>(setting: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === value)
  if (found === undefined) throw new SettingsError(setting, `one of ${allowed.join(', ')} is needed`)
  return found
}

export function baseUrl(value: string): URL {
  const url = URL.parse(value)
  if (url === null)
    throw new SettingsError('SVC_URL', `"${value}" is not a URL such as https://relay.example.com`)
  if (url.protocol !== 'https:') throw new SettingsError('SVC_URL', 'must begin with https://')
  const host = url.hostname
  if (host.startsWith('[') || isIP(host) !== 0)
    throw new SettingsError('SVC_URL', 'needs a host name, not an IP address: sites get names below it')
  return url
}

/** Whether names below this host resolve to the machine itself (RFC 6761 §6.3). */
export function isLocalhost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost')
}

/** Whether nobody outside can vouch for the host: it means this machine, or one of this network (`.local`, RFC 6762 §3). */
export function isNobodysName(host: string): boolean {
  return isLocalhost(host) || host.endsWith('.local')
}

export function hostName(value: string, setting: string): string {
  const inBrackets = /^\[(.*)\]$/.exec(value)?.[1]
  if (inBrackets !== undefined && isIPv6(inBrackets)) return inBrackets
  if (isIPv6(value)) return value
  if (!/^[a-z\d](?:[a-z\d._-]{0,251}[a-z\d])?$/i.test(value))
    throw new SettingsError(setting, 'is not the name or address of a host')
  return value.toLowerCase()
}
