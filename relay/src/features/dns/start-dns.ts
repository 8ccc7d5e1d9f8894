// Starts the DNS provider or the relay's own name server, and the relay's address records.

import type { DnsServer } from '@svc/dns'
import type { EnsStatus } from '@svc/protocol'
import type { RelayIdentity } from '../../core/auth/relay-identity.ts'
import type { Settings } from '../../core/config/settings.ts'
import type { Logger } from '../../core/log/log.ts'
import type { Running } from '../../feature.ts'
import { AddressRecords } from './address-records.ts'
import type { EmbeddedProvider } from './embedded/embedded-provider.ts'
import type { EmbeddedDns } from './embedded/start-embedded.ts'
import { oneAtATime } from './one-at-a-time.ts'
import type { DnsProvider } from './provider.ts'
import { PublicAddressWatcher } from './public-address/public-address-watcher.ts'
import { EMBEDDED } from './settings.ts'
import { startDnsProvider } from './start-provider.ts'

export interface RunningDns extends Running {
  /** Makes the changes of all its callers one after another. */
  provider: DnsProvider
  /** The relay's own name server; undefined when another provider has the zone. */
  embedded: { provider: EmbeddedProvider; server: DnsServer } | undefined
  /** The addresses that the records contain. */
  addresses: PublicAddressWatcher
}

export interface DnsParts {
  settings: Settings
  identity: Pick<RelayIdentity, 'address'>
  /** Whether the relay gets its certificates by ACME. */
  isManaged: boolean
  log: Logger
}

/**
 * startDns starts the DNS provider that ACME, ENS or the operator needs. A name server that cannot listen is an error in
 * the log, and ends nothing.
 * @throws SettingsError when the provider cannot be used as it is set
 */
export async function startDns(parts: DnsParts): Promise<RunningDns> {
  const { settings, identity, isManaged, log } = parts
  let embedded: EmbeddedDns | undefined
  const started = await startDnsProvider(settings, {
    embedded: async () => {
      const { startEmbeddedDns } = await import('./embedded/start-embedded.ts')
      embedded = await startEmbeddedDns({
        settings,
        issuers: isManaged ? knownIssuers(settings.acme) : [],
        log,
      })
      return embedded.provider
    },
    log,
  })
  const provider = oneAtATime(started)
  const isEmbedded = provider.name === EMBEDDED
  const addresses = new PublicAddressWatcher(settings, log, { answersItself: isEmbedded })
  try {
    const status =
      isEmbedded && !settings.ensGasless ? await statusWithoutEns(provider, identity.address) : undefined
    const hasRecords = isEmbedded || (isManaged && knowsAddresses(settings, log))
    const { rootHost } = settings
    const records = hasRecords ? new AddressRecords({ provider, rootHost, addresses, log }) : undefined
    return {
      provider,
      embedded,
      addresses,
      domain: () => (status === undefined ? {} : { ens: status }),
      metrics: (metrics) => embedded?.metrics(metrics),
      close: async () => {
        await records?.close()
        await provider.close()
      },
    }
  } catch (error) {
    await provider.close()
    throw error
  }
}

/** CAA domains that the relay knows before it has read the authority's directory. */
function knownIssuers({ directory }: Settings['acme']): string[] {
  return new URL(directory).hostname.endsWith('.letsencrypt.org') ? ['letsencrypt.org'] : []
}

/** Without configured addresses, several machines would each overwrite the root host's records with their own. */
function knowsAddresses({ cluster, publicAddresses }: Settings, log: Logger): boolean {
  const { ipv4, ipv6 } = publicAddresses
  if (cluster === undefined || ipv4 !== undefined || ipv6 !== undefined) return true
  log.info('the address records stay as they are: PUBLIC_IPV4 or PUBLIC_IPV6 names the load balancer')
  return false
}

/** The embedded zone is signed even without ENS, so that its operator always needs the DS record. */
async function statusWithoutEns(provider: DnsProvider, address: string): Promise<EnsStatus> {
  const { state, dsRecord, message } = await provider.dnssec()
  return {
    enabled: false,
    verified: false,
    provider: provider.name,
    address,
    dnssec_state: state,
    ds_record: dsRecord,
    message,
    last_error: '',
  }
}
