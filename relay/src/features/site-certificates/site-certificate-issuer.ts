// The interface of issuers of certificates for sites' own keys.

import type { Lease } from '../../core/lease/lease.ts'
import type { CertificateRequest } from './certificate-request.ts'

/** Issues certificates for validated requests, to leases that may have one. */
export interface SiteCertificateIssuer {
  /** Whether the policy and the setting allow a lease a certificate. */
  mayHave(lease: Lease): boolean
  /**
   * Whether a chain, order or failure is known for an identity, so that its next request probably makes no new order.
   */
  knows(identityKey: string): boolean
  /**
   * Resolves with the answer to a request that needs no new order, otherwise undefined.
   * @throws RelayError for an order that failed recently
   */
  find(request: CertificateRequest, lease: Lease): Promise<SiteCertificateAnswer | undefined>
  /** @throws RelayError when no certificate can be issued */
  issue(request: CertificateRequest, lease: Lease): Promise<SiteCertificateAnswer>
  /** Returns whether a certificate is the one kept for a lease's identity. @param leaf DER */
  hasIssued(lease: Lease, leaf: Buffer): Promise<boolean>
  /** Ends what is under way. */
  close(): Promise<void>
}

/** The chain as PEM, leaf first; or the seconds after which the site asks again with the same key and names. */
export type SiteCertificateAnswer = { chain: string } | { retryAfterS: number }
