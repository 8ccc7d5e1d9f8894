// What issues certificates for keys of sites: today the development CA, where a relay has one.

import type { CertificateRotation } from '../certificate-rotation.ts'
import { createLeafFor } from '../development-ca.ts'
import type { CertificateRequest } from './certificate-request.ts'

/** Issues certificates for requests that have been checked. */
export interface SiteCertificateIssuer {
  /**
   * @param identityKey of the lease that asks, which may ask again for the same names
   * @throws RelayError when there is none to be had
   */
  issue(request: CertificateRequest, identityKey: string): Promise<SiteCertificateAnswer>
}

/** The chain as PEM, leaf first; or the time after which the site asks again with the same request. */
type SiteCertificateAnswer = { chain: string } | { retryAfterS: number }

/** @returns undefined when this relay can issue none */
export function createSiteCertificateIssuer(
  rotation: CertificateRotation,
): SiteCertificateIssuer | undefined {
  if (rotation.current.authority === undefined) return undefined
  return {
    issue: async ({ publicKey, names }) => {
      // A rotation keeps the CA.
      const authority = rotation.current.authority!
      return { chain: createLeafFor(authority, publicKey, names) }
    },
  }
}
