// Starts certificates by ACME: the authority with its budget, the proofs at the listener, and the root host's certificate.

import type { RelayAuthority } from '../certificates/acme/create-authority.ts'
import type { Settings } from '../config/settings.ts'
import type { ProveName } from '../ingress/sni-listener.ts'
import type { Logger } from '../log/log.ts'
import type { Dns } from './dns.ts'
import type { RelayState } from './stored-state.ts'

export interface Acme {
  authority: RelayAuthority
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
  dns: Pick<Dns, 'provider'>
  log: Logger
}

/**
 * @returns undefined where ACME does not manage the certificates: none of its code is loaded then
 * @throws SettingsError when a setting or a file cannot be used
 */
export async function startAcme({ settings, state, dns, log }: AcmeParts): Promise<Acme | undefined> {
  if (!state.isManaged) return undefined
  const [{ OrderBudget }, { createAcmeAuthority }, { TlsAlpnProver }, { RootCertificate }] =
    await Promise.all([
      import('../certificates/acme/budget.ts'),
      import('../certificates/acme/create-authority.ts'),
      import('../certificates/acme/tls-alpn.ts'),
      import('../certificates/acme/root-certificate.ts'),
    ])
  const budget = await OrderBudget.open({
    directory: settings.identityPath,
    rates: settings.acmeRates,
    onOrder: (hosts, error) => state.certificateStatuses.countOrder(hosts, error),
    log,
  })
  const tlsAlpn = new TlsAlpnProver()
  const authority = await createAcmeAuthority({ settings, budget, tlsAlpn, dns: dns.provider, log })
  const root = new RootCertificate({ ...state, settings, authority, log })
  return {
    authority,
    proveName: (...from) => tlsAlpn.serve(...from),
    start: () => root.start(),
    close: async () => {
      await Promise.all([root.close(), authority.close()])
    },
  }
}
