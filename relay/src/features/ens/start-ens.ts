// Starts the ENS automation: records of the base domain and of every lease, and polling of the DNSSEC state.

import type { EnsStatus } from '@svc/protocol'
import type { Lease } from '../../core/lease/lease.ts'
import type { LeaseRegistry } from '../../core/lease/lease-registry.ts'
import type { Logger } from '../../core/log/log.ts'
import type { DnsProvider } from '../dns/provider.ts'
import type { PublicAddressWatcher } from '../dns/public-address/public-address-watcher.ts'
import { DnssecSync } from './dnssec-sync.ts'
import { EnsRecords } from './ens-records.ts'
import { ensText } from './ens-text.ts'
import { PublishedNames } from './published-names.ts'

export interface EnsParts {
  provider: DnsProvider
  /** Whether the provider is the embedded one, whose records end with this process. */
  isEmbedded: boolean
  rootHost: string
  /** Address of the relay's identity, to which the base domain resolves. */
  relayAddress: string
  /** State directory. */
  directory: string
  leases: LeaseRegistry
  addresses: Pick<PublicAddressWatcher, 'watch'>
  log: Logger
  /** Milliseconds after the first failure. */
  firstPauseMs?: number
  /** Milliseconds between two polls of the DNSSEC state. */
  syncMs?: number
  /** Milliseconds for which records of an earlier process stay while no lease needs them. */
  returnMs?: number
}

export interface Ens {
  /** As `GET /sdk/domain` shows it. */
  status(): EnsStatus
  close(): Promise<void>
}

/** @throws SettingsError when the file of published names cannot be read */
export async function startEns(parts: EnsParts): Promise<Ens> {
  const { provider, isEmbedded, rootHost, relayAddress, leases, log, firstPauseMs, returnMs } = parts
  const published = isEmbedded ? undefined : await PublishedNames.load(parts.directory, rootHost, log)
  const records = new EnsRecords({ provider, published, log, firstPauseMs, returnMs })
  const dnssec = new DnssecSync({ provider, isVerifiable: !isEmbedded, intervalMs: parts.syncMs })
  records.want(rootHost, { text: ensText(relayAddress), hasAddresses: false })
  // The embedded zone gives each hostname the addresses of its wildcard, whatever other records it has.
  const follow = (lease: Lease): void => followLease(records, lease, !isEmbedded)
  leases.onChange(follow)
  for (const lease of leases) follow(lease)
  const leave = parts.addresses.watch((found) => records.follow(found))
  return {
    status: () => ({
      enabled: true,
      verified: dnssec.isVerified && records.isDone(rootHost),
      provider: provider.name,
      address: relayAddress,
      dnssec_state: dnssec.state.state,
      ds_record: dnssec.state.dsRecord,
      message: isEmbedded || records.hasAddresses ? dnssec.state.message : NO_ADDRESS,
      last_error: dnssec.error || records.lastError,
    }),
    close: async () => {
      leave()
      await Promise.all([records.close(), dnssec.close()])
    },
  }
}

const NO_ADDRESS =
  'No public address of this relay is known, so that sites get no ENS names: set PUBLIC_IPV4 or PUBLIC_IPV6.'

/** A relay that shuts down keeps the records, since its sites come back. */
function followLease(records: EnsRecords, lease: Lease, hasAddresses: boolean): void {
  const { aborted, reason } = lease.ended
  if (aborted && reason === 'shutdown') return
  const owner = aborted ? undefined : { text: ensText(lease.identity.address), hasAddresses }
  for (const hostname of lease.hostnames) records.want(hostname, owner)
}
