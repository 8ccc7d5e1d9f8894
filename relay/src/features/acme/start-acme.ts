// Starts certificates by ACME: the authority with its budget, the proofs at the listener, and the root host's certificate.

import type { Settings } from '../../core/config/settings.ts'
import type { ProveName } from '../../core/ingress/sni-listener.ts'
import type { Logger } from '../../core/log/log.ts'
import type { RelayState } from '../../core/storage/stored-state.ts'
import type { Running } from '../../feature.ts'
import type { RunningDns } from '../dns/index.ts'
import type { AcmeAuthority } from './authority.ts'
import { OrderBudget } from './budget.ts'
import { followCaaIdentities } from './caa-identities.ts'
import { createAcmeAuthority } from './create-authority.ts'
import type { OrderSharing } from './order-sharing.ts'
import type { Prover } from './proofs.ts'
import { RootCertificate } from './root-certificate.ts'
import { TlsAlpnProver } from './tls-alpn.ts'

export interface RunningAcme extends Running {
  authority: AcmeAuthority
  /** The other machines; undefined on a single machine. */
  sharing: OrderSharing | undefined
  proveName: ProveName
}

interface AcmeParts {
  settings: Settings
  state: RelayState
  /** Undefined: `dns-01` is not possible. */
  dns: Pick<RunningDns, 'provider' | 'embedded'> | undefined
  /** The other machines; undefined on a single machine. */
  sharing: OrderSharing | undefined
  log: Logger
}

/** @throws SettingsError when a setting or a file cannot be used */
export async function startAcme(parts: AcmeParts): Promise<RunningAcme> {
  const { settings, state, dns, sharing, log } = parts
  const budget = await OrderBudget.open({
    directory: settings.identityPath,
    rates: settings.acmeRates,
    sharing,
    onOrder: (hosts, result) => state.certificateStatuses.countOrder(hosts, result),
    log,
  })
  const tlsAlpn = new TlsAlpnProver()
  const toldTlsAlpn = new TlsAlpnProver()
  const proofs = sharing && (await shareProofs(parts, sharing, toldTlsAlpn))
  const authority = await createAcmeAuthority({
    settings,
    budget,
    tlsAlpn: proofs?.share(tlsAlpn) ?? tlsAlpn,
    dns: dns?.provider,
    sharing,
    // Each machine is a name server of its own.
    shareDns: dns?.embedded && proofs && ((prover) => proofs.share(prover)),
    log,
  })
  const root = new RootCertificate({ ...state, settings, authority, sharing, log })
  let issuers: Awaited<ReturnType<typeof followIssuers>> | undefined
  return {
    authority,
    sharing,
    proveName: (...from) => tlsAlpn.serve(...from) || toldTlsAlpn.serve(...from),
    listen: async () => {
      issuers = dns?.embedded && (await followIssuers(parts, dns.embedded))
      // Starts ordering and renewing the root host's certificate.
      root.start()
    },
    close: async () => {
      proofs?.close()
      await Promise.all([issuers?.close(), root.close(), authority.close()])
    },
  }
}

/** Passes the authority's CAA domains to the relay's name server. */
async function followIssuers(
  { settings, log }: AcmeParts,
  { provider }: NonNullable<RunningDns['embedded']>,
): Promise<{ close(): Promise<void> }> {
  return await followCaaIdentities({
    acme: settings.acme,
    found: (issuers) => provider.setIssuers(issuers),
    failed: ({ message: reason }) =>
      log.warn({ reason }, 'the CAA records are not known to be those of the ACME authority'),
  })
}

interface Proofs {
  share(prover: Prover): Prover
  close(): void
}

/** Shows the proofs of other machines here, and those of this machine on the others. */
async function shareProofs(
  { dns, log }: AcmeParts,
  sharing: OrderSharing,
  toldTlsAlpn: TlsAlpnProver,
): Promise<Proofs> {
  const { SharedProofs } = await import('./shared-proofs.ts')
  const provers: Prover[] = [toldTlsAlpn]
  if (dns?.embedded !== undefined) {
    const { dnsProver } = await import('./dns-challenge.ts')
    provers.push(dnsProver(dns.provider, log))
  }
  return new SharedProofs({ sharing, provers, log })
}
