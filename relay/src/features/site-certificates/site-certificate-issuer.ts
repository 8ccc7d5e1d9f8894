// Defines what issues certificates for keys of sites.

import type { Lease } from '../../core/lease/lease.ts'
import type { CertificateRequest } from './certificate-request.ts'

/** Issues certificates for requests that have been checked, to leases that may have one. */
export interface SiteCertificateIssuer {
  /** Whether the policy and the setting let a lease have a certificate. */
  mayHave(lease: Lease): boolean
  /** Whether something is kept or under way for an identity, so that its next request most likely makes no new order. */
  knows(identityKey: string): boolean
  /**
   * Resolves with the answer to a request where that needs no new order.
   * @throws RelayError for an order that failed a short while ago
   */
  find(request: CertificateRequest, lease: Lease): Promise<SiteCertificateAnswer | undefined>
  /** @throws RelayError when there is no certificate to be had */
  issue(request: CertificateRequest, lease: Lease): Promise<SiteCertificateAnswer>
  /** Returns whether a certificate is the one that is kept for a lease's identity. @param leaf DER */
  hasIssued(lease: Lease, leaf: Buffer): Promise<boolean>
  /** Ends what is under way. */
  close(): Promise<void>
}

/** The chain as PEM, leaf first; or the time after which the site asks again with the same key and names. */
export type SiteCertificateAnswer = { chain: string } | { retryAfterS: number }
