// Names the certificates that the development CA makes, so that a relay recognizes them.

/** Certificate and key in PEM; the key is PKCS #8. */
export interface CertificateAuthority {
  certificate: string
  key: string
}

/** The common name is too short for hostnames, and clients read only the alternative names (RFC 9525 §2). */
export const LEAF_NAME = 'svc development certificate'

/** Common name of the CA for `host`. A CA for another host cannot issue certificates for this one. */
export function caName(host: string): string {
  return `svc development CA for ${host}`
}
