// Starts what changes DNS records: the provider, the relay's own address records, and ENS names. A relay that needs none of
// them loads none of their code.

import type { DnsServer } from '@svc/dns'
import type { EnsStatus } from '@svc/protocol'
import type { RelayIdentity } from '../core/auth/relay-identity.ts'
import { EMBEDDED, isDnsNeeded } from '../core/config/features.ts'
import type { Settings } from '../core/config/settings.ts'
import type { LeaseRegistry } from '../core/lease/lease-registry.ts'
import type { Logger } from '../core/log/log.ts'
import type { Measured } from '../core/metrics/metrics.ts'
import type { AddressRecords } from '../features/dns/address-records.ts'
import type { EmbeddedDns } from '../features/dns/embedded/start-embedded.ts'
import type { DnsProvider } from '../features/dns/provider.ts'
import type { PublicAddressWatcher } from '../features/dns/public-address/public-address-watcher.ts'
import type { Ens } from '../features/ens/start-ens.ts'

export interface Dns extends Measured {
  /** Makes the changes of all its callers one after another; undefined where the relay changes no records. */
  provider: DnsProvider | undefined
  /** The relay's own name server; undefined where another provider has the zone. */
  server: DnsServer | undefined
  /** What `GET /sdk/domain` says of ENS names. */
  domain(): { ens?: EnsStatus }
  close(): Promise<void>
}

export interface DnsParts {
  settings: Settings
  identity: RelayIdentity
  leases: LeaseRegistry
  /** Whether the relay gets its certificates by ACME. */
  isManaged: boolean
  log: Logger
}

/**
 * startDns starts the DNS provider where ACME, ENS or the operator needs one. A name server that cannot listen is an error in
 * the log, and ends nothing.
 * @throws SettingsError when the provider cannot be used as it is set
 */
export async function startDns(parts: DnsParts): Promise<Dns> {
  const { settings, isManaged, log } = parts
  if (!isDnsNeeded(settings, isManaged))
    return {
      provider: undefined,
      server: undefined,
      domain: () => ({}),
      metrics: () => {},
      close: async () => {},
    }
  const { startDnsProvider } = await import('../features/dns/start-provider.ts')
  const { oneAtATime } = await import('../features/dns/one-at-a-time.ts')
  let embedded: StartedEmbedded | undefined
  const started = await startDnsProvider(settings, {
    embedded: async () => {
      embedded = await startEmbedded(parts)
      return embedded.provider
    },
    log,
  })
  const provider = oneAtATime(started)
  try {
    const { domain, close } = await startRecords(parts, provider)
    const closeAll = async (): Promise<void> => {
      await embedded?.issuers?.close()
      await close()
    }
    const server = embedded?.server
    return { provider, server, domain, metrics: (metrics) => embedded?.metrics(metrics), close: closeAll }
  } catch (error) {
    await embedded?.issuers?.close()
    await provider.close()
    throw error
  }
}

interface StartedEmbedded extends EmbeddedDns {
  /** Follows what CAA records call the ACME authority; undefined where the relay has none. */
  issuers: { close(): Promise<void> } | undefined
}

async function startEmbedded({ settings, isManaged, log }: DnsParts): Promise<StartedEmbedded> {
  const { startEmbeddedDns } = await import('../features/dns/embedded/start-embedded.ts')
  const { acme } = settings
  const embedded = await startEmbeddedDns({ settings, issuers: isManaged ? knownIssuers(acme) : [], log })
  try {
    return { ...embedded, issuers: isManaged ? await followIssuers(acme, embedded, log) : undefined }
  } catch (error) {
    await embedded.provider.close()
    throw error
  }
}

/** The facts about an authority that the relay knows before the authority's directory says them. */
function knownIssuers({ directory }: Settings['acme']): string[] {
  return new URL(directory).hostname.endsWith('.letsencrypt.org') ? ['letsencrypt.org'] : []
}

async function followIssuers(
  acme: Settings['acme'],
  { provider }: EmbeddedDns,
  log: Logger,
): Promise<{ close(): Promise<void> }> {
  const { followCaaIdentities } = await import('../features/acme/caa-identities.ts')
  return await followCaaIdentities({
    acme,
    found: (issuers) => provider.setIssuers(issuers),
    failed: ({ message: reason }) =>
      log.warn({ reason }, 'the CAA records are not known to be those of the ACME authority'),
  })
}

/** Starts what has records at the provider. */
async function startRecords(parts: DnsParts, provider: DnsProvider): Promise<Pick<Dns, 'domain' | 'close'>> {
  const { settings, identity, isManaged, log } = parts
  const { rootHost } = settings
  const isEmbedded = provider.name === EMBEDDED
  const { PublicAddressWatcher } = await import('../features/dns/public-address/public-address-watcher.ts')
  const addresses = new PublicAddressWatcher(settings, log, { answersItself: isEmbedded })
  const ens = settings.ensGasless ? await startEnsNames(parts, provider, addresses) : undefined
  const status =
    isEmbedded && ens === undefined ? await statusWithoutEns(provider, identity.address) : undefined
  const hasRecords = isEmbedded || (isManaged && knowsAddresses(settings, log))
  const records = hasRecords ? await followAddresses({ provider, rootHost, addresses, log }) : undefined
  return {
    domain: () => {
      const said = ens?.status() ?? status
      return said === undefined ? {} : { ens: said }
    },
    close: async () => {
      await Promise.all([records?.close(), ens?.close()])
      await provider.close()
    },
  }
}

/** Several machines would each say that the root host is its own address, and take the records from each other. */
function knowsAddresses({ cluster, publicAddresses }: Settings, log: Logger): boolean {
  const { ipv4, ipv6 } = publicAddresses
  if (cluster === undefined || ipv4 !== undefined || ipv6 !== undefined) return true
  log.info('the address records stay as they are: PUBLIC_IPV4 or PUBLIC_IPV6 names the load balancer')
  return false
}

async function followAddresses(
  parts: ConstructorParameters<typeof AddressRecords>[0],
): Promise<AddressRecords> {
  const { AddressRecords } = await import('../features/dns/address-records.ts')
  return new AddressRecords(parts)
}

async function startEnsNames(
  { settings, identity, leases, log }: DnsParts,
  provider: DnsProvider,
  addresses: PublicAddressWatcher,
): Promise<Ens> {
  const { startEns } = await import('../features/ens/start-ens.ts')
  return await startEns({
    provider,
    isEmbedded: provider.name === EMBEDDED,
    rootHost: settings.rootHost,
    relayAddress: identity.address,
    directory: settings.identityPath,
    leases,
    addresses,
    log,
  })
}

/** The embedded zone is signed with ENS or without: its operator needs the DS record in any case. */
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
