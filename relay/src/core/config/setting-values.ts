// Parses the value of one setting: a port, addresses, a flag, a secret.

import { isIP, isIPv4, isIPv6 } from 'node:net'
import { availableParallelism } from 'node:os'
import { normalizeIp } from '../client-address/ip-address.ts'
import { TrustedProxies } from '../client-address/trusted-proxies.ts'
import { SettingsError } from './settings-error.ts'

const PORT_MAX = 65_535
const LOOPBACK = '127.0.0.1'
/** Addresses that a listener may bind, and to which nobody can send a packet (RFC 6890). */
const UNSPECIFIED = ['0.0.0.0', '::']
/** 96 random bits in base64: nobody guesses them. */
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

export function ipAddresses(value: string, setting: string): string[] {
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

/** Parses the address of listeners. `::` stands for every address of either family. */
export function ipAddress(value: string, setting: string): string {
  const address = value.trim()
  if (isIP(address) === 0) throw new SettingsError(setting, `"${value}" is not an IP address`)
  return address
}

export function addressesOf(family: 4 | 6, value: string, setting: string): string[] {
  const addresses = ipAddresses(value, setting)
  const other = addresses.find((address) => isIP(address) !== family)
  if (other !== undefined) throw new SettingsError(setting, `"${other}" is not an IPv${family} address`)
  return addresses
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

/** A size in bytes, which need not fit into 32 bits. */
export function byteCount(value: string, setting: string): number {
  if (!/^[1-9]\d{0,14}$/.test(value))
    throw new SettingsError(setting, `"${value}" is not a whole number of bytes from 1 to 999999999999999`)
  return Number(value)
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

/** Normalized addresses at which visitors reach the relay, by family; undefined: the relay finds them itself. */
export interface ConfiguredAddresses {
  ipv4: readonly string[] | undefined
  ipv6: readonly string[] | undefined
}

/** An address of the DNS server. */
export interface DnsAddress {
  /** An IP address; undefined: all addresses of this machine. */
  host: string | undefined
  port: number
}

/** Names are no addresses here: the server that would resolve them may be this one. */
export function dnsAddresses(value: string, setting: string): DnsAddress[] {
  return value.split(',').map((part) => {
    const text = part.trim()
    const [, ipv6, ipv4, port] = /^(?:(?:\[([^[\]]*)\]|([^:[\]]*)):)?(\d+)$/.exec(text) ?? []
    const host = ipv6 ?? ipv4
    const isValid = host === undefined || (ipv6 === undefined ? isIPv4(host) : isIPv6(host))
    if (port === undefined || !isValid)
      throw new SettingsError(setting, `"${text}" is not PORT, IP:PORT or [IPV6]:PORT`)
    return { host, port: portNumber(port, setting) }
  })
}

/** Parses PORT or HOST:PORT. A port alone is that of every address, since visitors come there. */
export function publicBindAddress(value: string, setting: string): { host?: string; port: number } {
  return /^\d+$/.test(value) ? { port: portNumber(value, setting) } : bindAddress(value, setting)
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

export function publicAddresses(
  both: string[] | undefined,
  ipv4: string[] | undefined,
  ipv6: string[] | undefined,
): ConfiguredAddresses {
  return {
    ipv4: ipv4 ?? both?.filter((address) => !isIPv6(address)),
    ipv6: ipv6 ?? both?.filter((address) => isIPv6(address)),
  }
}

/** Whether names below this host resolve to the machine itself (RFC 6761 §6.3). */
export function isLocalhost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost')
}
