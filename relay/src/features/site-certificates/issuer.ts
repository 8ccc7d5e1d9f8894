// Issues certificates for sites' own keys: by the development CA, or by an ACME authority.

import { X509Certificate } from 'node:crypto'
import type { CertificateRotation } from '../../core/certificates/certificate-rotation.ts'
import type { CertificateStatuses } from '../../core/certificates/certificate-status.ts'
import { createLeafFor } from '../../core/certificates/development-ca.ts'
import { fromWallTime } from '../../core/clock.ts'
import type { Settings } from '../../core/config/settings.ts'
import type { Lease } from '../../core/lease/lease.ts'
import type { LeaseRegistry } from '../../core/lease/lease-registry.ts'
import type { Logger } from '../../core/log/log.ts'
import type { PolicyRules } from '../../core/policy/policy-rules.ts'
import type { AcmeAuthority } from '../acme/authority.ts'
import type { OrderSharing } from '../acme/order-sharing.ts'
import { DEVELOPMENT_SITE_DAYS } from './limits.ts'
import type { Keep, OrdersElsewhere } from './orders-elsewhere.ts'
import type { SiteCertificateIssuer } from './site-certificate-issuer.ts'

interface IssuerParts {
  settings: Settings
  certificates: CertificateRotation
  /** Undefined when the development CA issues. */
  authority: AcmeAuthority | undefined
  /** The other machines, which serve the same sites; undefined on a single machine. */
  sharing?: OrderSharing | undefined
  certificateStatuses: CertificateStatuses
  policy: PolicyRules
  leases: LeaseRegistry
  log: Logger
}

export async function createSiteCertificateIssuer(parts: IssuerParts): Promise<SiteCertificateIssuer> {
  const {
    settings,
    certificates,
    certificateStatuses: statuses,
    authority,
    sharing,
    policy,
    leases,
    log,
  } = parts
  // A relay may get its first wildcard while it runs.
  const isForAll = (): boolean => {
    const { siteCertificates: choice } = settings
    return choice === undefined ? !(authority && certificates.current.hasWildcard) : choice === 'all'
  }
  const mayHave = (lease: Lease): boolean =>
    policy.routes(lease) && (isForAll() || policy.isApprovedByName(lease.identityKey))
  if (certificates.current.authority !== undefined) return developmentIssuer(certificates, mayHave)
  const { AcmeIssuer } = await import('./acme-issuer.ts')
  const { identityPath: directory, acme } = settings
  const issuer = new AcmeIssuer({
    authority: authority!,
    directory,
    acmeDirectory: acme.directory,
    mayHave,
    issued: (lease, names, chain) => leases.certify(lease, names, endOfLeaf(chain)),
    statuses,
    elsewhere: sharing && (await ordersElsewhere(sharing, acme.directory, log)),
    log,
  })
  statuses.sites = () => issuer.summary
  policy.onChange(() => issuer.recheck())
  leases.onChange((lease) => issuer.seen(lease))
  return issuer
}

/** Expiry of a chain's leaf in relay time. @param chain PEM, leaf first */
export function endOfLeaf(chain: string): number {
  return fromWallTime(new X509Certificate(chain).validToDate.getTime())
}

/** Loads the coordination between machines, which a relay of one machine does not need. */
async function ordersElsewhere(
  sharing: OrderSharing,
  acmeDirectory: string,
  log: Logger,
): Promise<(keep: Keep) => OrdersElsewhere> {
  const { OrdersElsewhere } = await import('./orders-elsewhere.ts')
  return (keep) => new OrdersElsewhere({ sharing, acmeDirectory, keep, log })
}

/** The issuer that signs with the development CA, at once. */
function developmentIssuer(
  rotation: CertificateRotation,
  mayHave: (lease: Lease) => boolean,
): SiteCertificateIssuer {
  return {
    mayHave,
    knows: () => false,
    find: async () => undefined,
    issue: async ({ publicKey, names }) => {
      // A rotation keeps the CA.
      const authority = rotation.current.authority!
      return { chain: createLeafFor(authority, publicKey, names, DEVELOPMENT_SITE_DAYS) }
    },
    // It keeps no certificates: clients that trust the CA accept all of them.
    hasIssued: async () => false,
    close: async () => {},
  }
}
