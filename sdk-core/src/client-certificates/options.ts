// The options of client certificates, and what they become.

import type { ClientAuthentication, ClientCertificate } from '@svc/tls'

/** ClientCertificateOptions say which certificates visitors need. */
export interface ClientCertificateOptions {
  /**
   * PEM of the certificate authorities, one or several. A visitor's certificate must be for TLS clients, and valid; its chain
   * must lead to one of them.
   */
  ca: string
  /**
   * Refuses visitors without a certificate, in the TLS handshake. If false, they come in without one; a certificate that is
   * not valid is refused in any case.
   * @default true
   */
  required?: boolean | undefined
  /**
   * PEM of certificate revocation lists. With them, each certificate of a visitor's chain needs a current list of its
   * issuer: a list that is missing or out of date refuses the visitor.
   * @default none: nothing is revoked
   */
  crl?: string | undefined
}

/** ClientCertificateCheck is how a site verifies the certificates of its visitors, in the engine or by the platform. */
export interface ClientCertificateCheck extends ClientAuthentication, Readonly<ClientCertificateOptions> {
  readonly required: boolean
  /**
   * Describes a certificate that the platform has verified.
   * @throws TlsError for bytes that are none
   */
  describe(der: Uint8Array): Promise<ClientCertificate>
}
