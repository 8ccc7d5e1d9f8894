// A verified certificate as users see it.

import type { ClientCertificate } from '../handshake/client-authentication.ts'
import type { X509Certificate } from '../x509/certificate.ts'

/** Resolves with the fields of a certificate. */
export async function describeCertificate(certificate: X509Certificate): Promise<ClientCertificate> {
  const { der, subjectText, issuerText, serialNumber, notBefore, notAfter } = certificate
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', der.slice()))
  return {
    subject: subjectText,
    issuer: issuerText,
    serialNumber: serialNumber.toUpperCase(),
    notBefore: new Date(notBefore),
    notAfter: new Date(notAfter),
    fingerprint256: Array.from(digest, (byte) => byte.toString(16).padStart(2, '0').toUpperCase()).join(':'),
    der: der.slice(),
  }
}
