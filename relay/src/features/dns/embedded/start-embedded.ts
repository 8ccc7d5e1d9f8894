// Starts the embedded DNS: the zone's key, the name server, and the provider that changes its records.

import { type DnsServer, dsText, startDnsServer } from '@svc/dns'
import type { Settings } from '../../../core/config/settings.ts'
import { installation } from '../../../core/installation.ts'
import type { Logger } from '../../../core/log/log.ts'
import type { Measured } from '../../../core/metrics/metrics.ts'
import type { DnssecState } from '../provider.ts'
import { registerDnsMetrics } from '../server-metrics.ts'
import { loadZoneKey } from '../zone-key-file.ts'
import { EmbeddedProvider } from './embedded-provider.ts'

interface EmbeddedDnsParts {
  settings: Settings
  /** As in {@link EmbeddedProvider.setIssuers}, for the first answers. */
  issuers: readonly string[]
  log: Logger
  /** As in {@link EmbeddedProvider}. */
  resolvers?: readonly string[]
}

export interface EmbeddedDns extends Measured {
  provider: EmbeddedProvider
  server: DnsServer
}

/**
 * Resolves when each address was tried. The server logs those that it cannot bind, and tries them again.
 * @throws SettingsError when the zone's key cannot be used
 */
export async function startEmbeddedDns(parts: EmbeddedDnsParts): Promise<EmbeddedDns> {
  const { settings, issuers, log, resolvers } = parts
  const { rootHost, identityPath, dnsAddresses: addresses, url } = settings
  const key = await loadZoneKey(identityPath, rootHost)
  const dnssec = stateOf(rootHost, dsText(key))
  log.info({ ds: `${rootHost}. IN DS ${dnssec.dsRecord}` }, dnssec.message)
  const provider = new EmbeddedProvider({ rootHost, dnssec, resolvers })
  await provider.setIssuers(issuers)
  const zone = { key, hasDefaultPort: url.port === '' }
  const server = await startDnsServer({
    zone,
    addresses,
    setting: 'DNS_ADDR',
    records: () => provider.records(),
    code: installation().thread('dns-thread'),
    log,
  })
  provider.attach(server)
  return { provider, server, metrics: (metrics) => registerDnsMetrics(metrics, () => server.counts) }
}

function stateOf(rootHost: string, dsRecord: string): DnssecState {
  const parent = rootHost.slice(rootHost.indexOf('.') + 1)
  return {
    state: 'pending',
    dsRecord,
    message:
      `In the zone ${parent}, at its DNS provider or registrar, ${rootHost} needs the name servers ns1.${rootHost} and ` +
      `ns2.${rootHost}, with the relay's addresses as glue, and then this DS record.`,
  }
}
