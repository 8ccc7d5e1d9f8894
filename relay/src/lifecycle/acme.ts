// Starts certificates by ACME: the authority with its budget, the proofs at the listener, and the root host's certificate.

import type { Settings } from '../core/config/settings.ts'
import type { ProveName } from '../core/ingress/sni-listener.ts'
import type { Logger } from '../core/log/log.ts'
import type { RelayState } from '../core/storage/stored-state.ts'
import type { RelayAuthority } from '../features/acme/create-authority.ts'
import type { OrderSharing } from '../features/acme/order-sharing.ts'
import type { Prover } from '../features/acme/proofs.ts'
import type { TlsAlpnProver } from '../features/acme/tls-alpn.ts'
import type { Cluster } from '../features/cluster/start-cluster.ts'
import type { Dns } from './dns.ts'

export interface Acme {
  authority: RelayAuthority
  /** The other machines; undefined where the relay is one machine. */
  sharing: OrderSharing | undefined
  /** Proves a name at the listener. */
  proveName: ProveName
  /** Begins to get and to renew the root host's certificate: called when the relay listens. */
  start(): void
  /** Ends orders that are under way. */
  close(): Promise<void>
}

interface AcmeParts {
  settings: Settings
  state: RelayState
  dns: Pick<Dns, 'provider' | 'server'>
  cluster: Cluster | undefined
  log: Logger
}

/**
 * @returns undefined where ACME does not manage the certificates: none of its code is loaded then
 * @throws SettingsError when a setting or a file cannot be used
 */
export async function startAcme(parts: AcmeParts): Promise<Acme | undefined> {
  const { settings, state, dns, cluster, log } = parts
  if (!state.isManaged) return undefined
  const [{ OrderBudget }, { createAcmeAuthority }, { TlsAlpnProver }, { RootCertificate }] =
    await Promise.all([
      import('../features/acme/budget.ts'),
      import('../features/acme/create-authority.ts'),
      import('../features/acme/tls-alpn.ts'),
      import('../features/acme/root-certificate.ts'),
    ])
  const sharing = cluster?.orders
  const budget = await OrderBudget.open({
    directory: settings.identityPath,
    rates: settings.acmeRates,
    sharing,
    onOrder: (hosts, error) => state.certificateStatuses.countOrder(hosts, error),
    log,
  })
  const tlsAlpn = new TlsAlpnProver()
  const toldTlsAlpn = new TlsAlpnProver()
  const proofs = sharing && (await shareProofs(parts, sharing, toldTlsAlpn))
  const authority = await createAcmeAuthority({
    settings,
    budget,
    tlsAlpn: proofs?.share(tlsAlpn) ?? tlsAlpn,
    dns: dns.provider,
    sharing,
    // Each machine is a name server of its own.
    shareDns: dns.server && proofs && ((prover) => proofs.share(prover)),
    log,
  })
  const root = new RootCertificate({ ...state, settings, authority, sharing, log })
  return {
    authority,
    sharing,
    proveName: (...from) => tlsAlpn.serve(...from) || toldTlsAlpn.serve(...from),
    start: () => root.start(),
    close: async () => {
      proofs?.close()
      await Promise.all([root.close(), authority.close()])
    },
  }
}

interface Proofs {
  share(prover: Prover): Prover
  close(): void
}

/** Shows the proofs of other machines here, and those of this machine there. */
async function shareProofs(
  { dns, log }: AcmeParts,
  sharing: OrderSharing,
  toldTlsAlpn: TlsAlpnProver,
): Promise<Proofs> {
  const { SharedProofs } = await import('../features/acme/shared-proofs.ts')
  const provers: Prover[] = [toldTlsAlpn]
  if (dns.server !== undefined && dns.provider !== undefined) {
    const { dnsProver } = await import('../features/acme/dns-challenge.ts')
    provers.push(dnsProver(dns.provider, log))
  }
  return new SharedProofs({ sharing, provers, log })
}
