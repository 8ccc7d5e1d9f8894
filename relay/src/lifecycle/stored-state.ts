// Opens what the relay keeps in its state directory: identity, certificates, policy, reservations, and the leases.

import { type IsOver, LeaseCredentials } from '../core/auth/lease-authorizer.ts'
import { loadIdentity, type RelayIdentity } from '../core/auth/relay-identity.ts'
import { TokenIssuer } from '../core/auth/token-issuer.ts'
import { CertificateRotation } from '../core/certificates/certificate-rotation.ts'
import { loadCertificates } from '../core/certificates/certificate-source.ts'
import { CertificateStatuses } from '../core/certificates/certificate-status.ts'
import { ExpiryWarning } from '../core/certificates/expiry-warning.ts'
import { PreviousCertificates } from '../core/certificates/previous-certificates.ts'
import type { Settings } from '../core/config/settings.ts'
import { LeaseRegistry } from '../core/lease/lease-registry.ts'
import { ReservationJournal } from '../core/lease/reservation-journal.ts'
import { ROOT_ROUTE, type Route } from '../core/lease/route.ts'
import { TOKEN_LEEWAY_S } from '../core/limits.ts'
import type { Logger } from '../core/log/log.ts'
import { AuditLog } from '../core/policy/audit-log.ts'
import { Policy } from '../core/policy/policy.ts'
import { type PolicyFile, unknownFieldsOf } from '../core/policy/policy-file.ts'
import { RoutingTable } from '../core/routing/routing-table.ts'
import { sweepTemporaries } from '../core/storage/state-file.ts'
import { WriteHealth } from '../core/storage/write-health.ts'
import { findPortHost } from './port-host.ts'

export interface RelayState {
  identity: RelayIdentity
  certificates: CertificateRotation
  previousCertificates: PreviousCertificates
  certificateStatuses: CertificateStatuses
  /** Whether ACME manages the certificates. */
  isManaged: boolean
  /** URL of the ACME directory that the certificate of the start comes from, where that is known. */
  acmeDirectory: string | undefined
  writeHealth: WriteHealth
  policy: Policy
  audit: AuditLog
  routes: RoutingTable<Route>
  journal: ReservationJournal
  leases: LeaseRegistry
  /** The host that addresses of dedicated ports name; undefined: the root host. */
  portHost: () => string | undefined
  credentials: LeaseCredentials
  /** Resolves when everything that was changed is written. */
  close(): Promise<unknown>
}

/** @throws SettingsError when the directory does not fit the settings */
export async function openState(settings: Settings, log: Logger, isOver?: IsOver): Promise<RelayState> {
  const { identityPath: directory, rootHost } = settings
  await sweepTemporaries(directory)
  const identity = await loadIdentity(directory)
  const { certificates: current, isManaged, acmeDirectory } = await loadCertificates(settings, log)
  const previousCertificates = new PreviousCertificates(settings, log)
  const certificates = new CertificateRotation(current, await previousCertificates.load(current))
  const certificateStatuses = new CertificateStatuses(certificates)
  const writeHealth = new WriteHealth(log)
  const policy = await Policy.load(directory, settings.portGates, writeHealth)
  warnOfUnknownFields(policy.file, log)
  const audit = new AuditLog(directory, writeHealth)
  const routes = new RoutingTable(rootHost, ROOT_ROUTE)
  const journal = await ReservationJournal.open(directory, writeHealth, log)
  const portHost = await findPortHost(settings, log)
  const leases = new LeaseRegistry(
    routes,
    journal.reservations,
    (name) => policy.isReserved(name),
    portHost.current,
  )
  const leewayS = settings.cluster === undefined ? 0 : TOKEN_LEEWAY_S
  const tokens = new TokenIssuer(identity, settings.url.origin, undefined, leewayS)
  const credentials = new LeaseCredentials(tokens, leases, isOver)
  // It has a timer, and nothing can fail any more.
  const expiryWarning = new ExpiryWarning(certificates, certificateStatuses, log)
  return {
    identity,
    certificates,
    previousCertificates,
    certificateStatuses,
    isManaged,
    acmeDirectory,
    writeHealth,
    policy,
    audit,
    routes,
    journal,
    leases,
    portHost: portHost.current,
    credentials,
    close: () => {
      expiryWarning.close()
      portHost.close()
      writeHealth.close()
      return Promise.all([journal.close(), policy.settled()])
    },
  }
}

/** An operator may believe that the relay does what such a field says. */
export function warnOfUnknownFields(file: PolicyFile, log: Logger): void {
  const fields = unknownFieldsOf(file)
  if (fields.length > 0) log.warn({ fields }, 'policy.json has fields that the relay keeps and does not know')
}
