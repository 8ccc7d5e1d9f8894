// Starts what changes DNS records: the provider, the relay's own address records, and ENS names. A relay that needs none of
// them loads none of their code.

import type { EnsStatus } from '@svc/protocol'
import type { RelayIdentity } from '../auth/relay-identity.ts'
import { isLocalhost, type Settings, SettingsError } from '../config/settings.ts'
import type { DnsProvider } from '../dns/provider.ts'
import type { Ens } from '../ens/start-ens.ts'
import type { LeaseRegistry } from '../lease/lease-registry.ts'
import type { Logger } from '../log/log.ts'
import type { PublicAddressWatcher } from '../public-address/public-address-watcher.ts'

export interface Dns {
  /** Makes the changes of all its callers one after another; undefined where the relay changes no records. */
  provider: DnsProvider | undefined
  /** As `GET /sdk/domain` shows it; undefined where the relay has nothing to say of it. */
  ens: (() => EnsStatus) | undefined
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

const EMBEDDED = 'embedded'

/**
 * startDns starts the DNS provider where ACME, ENS or the operator needs one. A name server that cannot listen is an error in
 * the log, and ends nothing.
 * @throws SettingsError when the provider cannot be used as it is set
 */
export async function startDns(parts: DnsParts): Promise<Dns> {
  const { settings, isManaged, log } = parts
  if (!isNeeded(settings, isManaged)) return { provider: undefined, ens: undefined, close: async () => {} }
  const { startDnsProvider } = await import('../dns/start-provider.ts')
  const { oneAtATime } = await import('../dns/one-at-a-time.ts')
  const provider = oneAtATime(await startDnsProvider(settings, { embedded: () => startEmbedded(parts), log }))
  const isEmbedded = provider.name === EMBEDDED
  const { PublicAddressWatcher } = await import('../public-address/public-address-watcher.ts')
  const addresses = new PublicAddressWatcher(settings, log, { answersItself: isEmbedded })
  const { AddressRecords } = await import('../dns/address-records.ts')
  const records =
    isEmbedded || isManaged
      ? new AddressRecords({ provider, rootHost: settings.rootHost, addresses, log })
      : undefined
  const ens = settings.ensGasless ? await startEns(parts, provider, addresses) : undefined
  return {
    provider,
    ens: ens?.status,
    close: async () => {
      await Promise.all([records?.close(), ens?.close()])
      await provider.close()
    },
  }
}

/** On localhost no records are needed. */
function isNeeded({ rootHost, acmeDnsProvider, ensGasless }: Settings, isManaged: boolean): boolean {
  return !isLocalhost(rootHost) && (isManaged || ensGasless || acmeDnsProvider === EMBEDDED)
}

async function startEmbedded(_parts: DnsParts): Promise<DnsProvider> {
  throw new SettingsError('ACME_DNS_PROVIDER', 'this build has no embedded name server')
}

async function startEns(
  { settings, identity, leases, log }: DnsParts,
  provider: DnsProvider,
  addresses: PublicAddressWatcher,
): Promise<Ens> {
  const { startEns } = await import('../ens/start-ens.ts')
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
