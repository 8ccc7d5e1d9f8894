// Opens what the relay keeps in its state directory: identity, certificates, policy, reservations, and the leases.

import { type IsOver, LeaseCredentials } from '../auth/lease-authorizer.ts'
import { loadIdentity, type RelayIdentity } from '../auth/relay-identity.ts'
import { TokenIssuer } from '../auth/token-issuer.ts'
import { CertificateRotation } from '../certificates/certificate-rotation.ts'
import { loadCertificates } from '../certificates/certificate-source.ts'
import { CertificateStatuses } from '../certificates/certificate-status.ts'
import { ExpiryWarning } from '../certificates/expiry-warning.ts'
import { PreviousCertificates } from '../certificates/previous-certificates.ts'
import type { CoreSettings, FeatureFacts } from '../config/settings.ts'
import { LeaseRegistry } from '../lease/lease-registry.ts'
import { ReservationJournal } from '../lease/reservation-journal.ts'
import { ROOT_ROUTE, type Route } from '../lease/route.ts'
import type { Logger } from '../log/log.ts'
import { AuditLog } from '../policy/audit-log.ts'
import { Policy } from '../policy/policy.ts'
import { type PolicyFile, unknownFieldsOf } from '../policy/policy-file.ts'
import { RoutingTable } from '../routing/routing-table.ts'
import { sweepTemporaries } from './state-file.ts'
import { WriteHealth } from './write-health.ts'

/** In a cluster, a token is valid from this long before its issue, since the machines' clocks differ. */
const TOKEN_LEEWAY_S = 30

export interface RelayState {
  identity: RelayIdentity
  certificates: CertificateRotation
  previousCertificates: PreviousCertificates
  certificateStatuses: CertificateStatuses
  /** Whether ACME manages the certificates. */
  isManaged: boolean
  /** URL of the ACME directory of the initial certificate, if known. */
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
  /** Resolves when all changes are written. */
  close(): Promise<unknown>
}

export interface StateOptions {
  /** The host that addresses of dedicated ports name. @default the root host */
  portHost?: (() => string | undefined) | undefined
  /** Whether another machine has ended a lease. @default the relay is one machine */
  isOver?: IsOver | undefined
}

/**
 * @throws SettingsError when the directory does not fit the settings
 */
export async function openState(
  settings: CoreSettings & FeatureFacts,
  log: Logger,
  { portHost = () => undefined, isOver }: StateOptions = {},
): Promise<RelayState> {
  const { identityPath: directory, rootHost } = settings
  await sweepTemporaries(directory)
  const identity = await loadIdentity(directory)
  const { certificates: current, isManaged, acmeDirectory } = await loadCertificates(settings, log)
  const previousCertificates = new PreviousCertificates(settings, log)
  const certificates = new CertificateRotation(current, await previousCertificates.load(current))
  const certificateStatuses = new CertificateStatuses(certificates)
  const writeHealth = new WriteHealth(log)
  const policy = await Policy.load(directory, settings.portGates, {
    health: writeHealth,
    mode: settings.registration,
  })
  warnOfUnknownFields(policy.file, log)
  const audit = new AuditLog(directory, writeHealth)
  const routes = new RoutingTable(rootHost, ROOT_ROUTE)
  const journal = await ReservationJournal.open(directory, writeHealth, log, settings.nameGraceMs)
  const leases = new LeaseRegistry(routes, journal.reservations, policy, portHost)
  const leewayS = isOver === undefined ? 0 : TOKEN_LEEWAY_S
  const tokens = new TokenIssuer(identity, settings.url.origin, undefined, leewayS)
  const credentials = new LeaseCredentials(tokens, leases, isOver)
  // Last, since it starts a timer: nothing can fail from here on.
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
    portHost,
    credentials,
    close: () => {
      expiryWarning.close()
      writeHealth.close()
      return Promise.all([journal.close(), policy.settled()])
    },
  }
}

/** Warns of unknown fields, which the operator may expect to have an effect. */
export function warnOfUnknownFields(file: PolicyFile, log: Logger): void {
  const fields = unknownFieldsOf(file)
  if (fields.length > 0) log.warn({ fields }, 'policy.json has fields that the relay keeps and does not know')
}
