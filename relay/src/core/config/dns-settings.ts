// The settings of DNS records: what changes them, and which servers must have a change.

import { isIPv4, isIPv6 } from 'node:net'
import { isAbsolute } from 'node:path'
import { DNS, DNS_PROOF } from './features.ts'
import type { Setting } from './setting.ts'
import { oneOf, portNumber } from './setting-values.ts'
import { SettingsError } from './settings-error.ts'

/** A provider whose API the relay asks, by its value of `ACME_DNS_PROVIDER`. */
export type ExternalDnsProvider = 'cloudflare' | 'gcloud' | 'hetzner' | 'njalla' | 'route53' | 'vultr'

/** Values of `ACME_DNS_PROVIDER` whose providers have no interface for DNSSEC. */
export const PROVIDERS_WITHOUT_DNSSEC: readonly string[] = [
  'hetzner',
  'njalla',
] satisfies ExternalDnsProvider[]
/** Begins a value of `ACME_DNS_PROVIDER`, before the path of a command. */
export const EXEC_PREFIX = 'exec:'

const PROVIDERS: readonly ('embedded' | ExternalDnsProvider)[] = [
  'embedded',
  'cloudflare',
  'gcloud',
  'hetzner',
  'njalla',
  'route53',
  'vultr',
]

interface DnsTable {
  ACME_DNS_PROVIDER: Setting<string>
  ACME_DNS_SERVERS: Setting<string[]>
}

/** The rows of these settings, in the order in which `--help` lists them. */
export const DNS_TABLE: DnsTable = {
  ACME_DNS_PROVIDER: {
    feature: DNS,
    meaning: `what changes DNS records: ${PROVIDERS.join(', ')}, or exec:/path of a command`,
    unset: 'embedded',
    parse: dnsProvider,
  },
  ACME_DNS_SERVERS: {
    feature: DNS_PROOF,
    meaning:
      'servers, ADDRESS or ADDRESS:PORT, separated by commas, that must have a new TXT record before ACME is told of it',
    unset: "the name servers of the record's zone",
    parse: dnsServers,
  },
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
