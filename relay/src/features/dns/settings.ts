// The settings of DNS records: which provider changes them, which addresses they have, and where the relay's name
// server listens.

import { isIP, isIPv4, isIPv6 } from 'node:net'
import { isAbsolute } from 'node:path'
import type { ZoneApiName } from '@svc/dns/providers'
import { normalizeIp } from '../../core/client-address/ip-address.ts'
import type { FeatureSettings } from '../../core/config/feature-settings.ts'
import type { Condition, SettingsTable } from '../../core/config/setting.ts'
import { isNobodysName, oneOf, portNumber } from '../../core/config/setting-values.ts'
import type { Settings } from '../../core/config/settings.ts'
import { SettingsError } from '../../core/config/settings-error.ts'

declare module '../../core/config/settings.ts' {
  interface Settings {
    /** What changes DNS records: `embedded`, an external provider, or `exec:` and a path; undefined: `embedded`. */
    acmeDnsProvider: string | undefined
    /**
     * Addresses of the servers that the relay asks whether a record has arrived; undefined: the name servers of its
     * zone.
     */
    acmeDnsServers: readonly string[] | undefined
    publicAddresses: ConfiguredAddresses
    /** Addresses of the DNS server, where the relay has one. */
    dnsAddresses: readonly DnsAddress[]
    /** Whether the relay publishes ENS names, for which it changes records. Set only by that feature. */
    ensGasless?: boolean
  }
}

/** Normalized addresses at which visitors reach the relay, by family; undefined: the relay finds them itself. */
export interface ConfiguredAddresses {
  ipv4: readonly string[] | undefined
  ipv6: readonly string[] | undefined
}

/** An address of the DNS server. */
interface DnsAddress {
  /** An IP address; undefined: all addresses of this machine. */
  host: string | undefined
  port: number
}

/** The provider of DNS records whose name server is this relay. */
export const EMBEDDED = 'embedded'

/** Values of `ACME_DNS_PROVIDER` whose providers have no API for DNSSEC. */
export const PROVIDERS_WITHOUT_DNSSEC: readonly string[] = ['hetzner', 'njalla'] satisfies ZoneApiName[]
/** Prefix of a value of `ACME_DNS_PROVIDER`, before the path of a command. */
export const EXEC_PREFIX = 'exec:'

const PROVIDERS: readonly (typeof EMBEDDED | ZoneApiName)[] = [
  EMBEDDED,
  'cloudflare',
  'gcloud',
  'hetzner',
  'njalla',
  'route53',
  'vultr',
]

/** Addresses that a listener may bind, and to which nobody can send a packet (RFC 6890). */
const UNSPECIFIED = ['0.0.0.0', '::']

const CHANGES: Condition = {
  isMet: isDnsNeeded,
  unmet: 'the relay changes no DNS records',
}
const NAME_SERVER: Condition = {
  isMet: (settings, isManaged) =>
    isDnsNeeded(settings, isManaged) && (settings.acmeDnsProvider ?? EMBEDDED) === EMBEDDED,
  unmet: 'the relay is not a name server',
}
const PROOF: Condition = {
  isMet: (settings, isManaged) =>
    isManaged && isDnsNeeded(settings, isManaged) && settings.acme.challenge !== 'tls-alpn-01',
  unmet: 'the relay proves no names by dns-01',
}
const ADDRESSES: Condition = {
  isMet: (settings, isManaged) => isDnsNeeded(settings, isManaged) || settings.portRange !== undefined,
  unmet: 'the relay publishes no address records, and has no dedicated ports that name an address',
}

const TABLE = {
  ACME_DNS_PROVIDER: {
    needs: CHANGES,
    meaning: `what changes DNS records: ${PROVIDERS.join(', ')}, or exec:/path of a command`,
    unset: 'embedded',
    parse: dnsProvider,
  },
  ACME_DNS_SERVERS: {
    needs: PROOF,
    meaning:
      'servers, ADDRESS or ADDRESS:PORT, separated by commas, that must have a new TXT record before ACME is told of it',
    unset: "the name servers of the record's zone",
    parse: dnsServers,
  },
  DNS_ADDR: {
    needs: NAME_SERVER,
    meaning:
      'addresses of the DNS server, over UDP and TCP: PORT (on all addresses) or IP:PORT, separated by commas',
    default: '53',
    parse: dnsAddresses,
  },
  PUBLIC_IPV4: {
    needs: ADDRESSES,
    meaning: 'IPv4 addresses at which visitors reach the relay, separated by commas',
    unset: "the machine's public addresses, or those of the root host",
    parse: (value, name) => addressesOf(4, value, name),
  },
  PUBLIC_IPV6: {
    needs: ADDRESSES,
    meaning: 'the same for IPv6',
    unset: "the machine's public addresses, or those of the root host",
    parse: (value, name) => addressesOf(6, value, name),
  },
  PUBLIC_IPS: {
    needs: ADDRESSES,
    meaning:
      'both in one: a family without an address has none; PUBLIC_IPV4 and PUBLIC_IPV6 override their family',
    unset: 'none',
    parse: ipAddresses,
  },
} satisfies SettingsTable

export const dnsSettings: FeatureSettings = {
  table: TABLE,
  read: (reader, { listenAddress }) => {
    const { read, optional } = reader.of(TABLE)
    const both = optional('PUBLIC_IPS')
    return {
      acmeDnsProvider: optional('ACME_DNS_PROVIDER'),
      acmeDnsServers: optional('ACME_DNS_SERVERS'),
      publicAddresses: {
        ipv4: optional('PUBLIC_IPV4') ?? both?.filter(isIPv4),
        ipv6: optional('PUBLIC_IPV6') ?? both?.filter(isIPv6),
      },
      dnsAddresses: read('DNS_ADDR').map(({ host = listenAddress, port }) => ({ host, port })),
    }
  },
}

/**
 * Whether the relay needs DNS records: never on localhost or below `.local`, and with `tls-alpn-01` only when the operator named a
 * provider.
 */
export function isDnsNeeded(
  { rootHost, acme, acmeDnsProvider, ensGasless }: Settings,
  isManaged: boolean,
): boolean {
  if (isNobodysName(rootHost)) return false
  const isForAcme = isManaged && (acme.challenge !== 'tls-alpn-01' || acmeDnsProvider !== undefined)
  return isForAcme || ensGasless === true || acmeDnsProvider === EMBEDDED
}

function dnsProvider(value: string, setting: string): string {
  if (!value.startsWith(EXEC_PREFIX)) return oneOf<string>(setting, value, [...PROVIDERS, 'exec:/path'])
  if (!isAbsolute(value.slice(EXEC_PREFIX.length)))
    throw new SettingsError(setting, `"${value}" has no absolute path, such as exec:/usr/local/bin/dns`)
  return value
}

function dnsServers(value: string, setting: string): string[] {
  const servers = value.split(',').map((part) => part.trim())
  for (const server of servers) {
    const [, ipv6, ipv4, port = '53'] = /^(?:\[([^[\]]*)\]|([^:[\]]*))(?::(\d+))?$/.exec(server) ?? []
    if (!isIPv6(server) && !isIPv6(ipv6 ?? '') && !isIPv4(ipv4 ?? ''))
      throw new SettingsError(setting, `"${server}" is not ADDRESS, ADDRESS:PORT or [IPV6]:PORT`)
    portNumber(port, setting)
  }
  return servers
}

/** Host names are refused: the server that would resolve them may be this one. */
function dnsAddresses(value: string, setting: string): DnsAddress[] {
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

function addressesOf(family: 4 | 6, value: string, setting: string): string[] {
  const addresses = ipAddresses(value, setting)
  const other = addresses.find((address) => isIP(address) !== family)
  if (other !== undefined) throw new SettingsError(setting, `"${other}" is not an IPv${family} address`)
  return addresses
}
