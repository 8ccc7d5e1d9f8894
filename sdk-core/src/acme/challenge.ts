// The certificate that proves a name by `tls-alpn-01` (RFC 8737 §3). Only connections that offer `acme-tls/1` alone see it.

import {
  DER_OID,
  encodeAcmeIdentifier,
  encodeDnsNames,
  encodeExtension,
  encodeName,
  encodeSigned,
  encodeToBeSigned,
} from '@svc/tls/der'
import type { SiteKey } from '../certificate/site-key.ts'
import { sha256 } from './jws.ts'

const DAY_MS = 86_400_000
/** The certificate is valid from this long before now, for an authority whose clock is behind. */
const CLOCK_SKEW_MS = 3_600_000

/**
 * Resolves with the certificate, DER.
 * @param key of the certificate, which protects nothing
 * @param keyAuthorization the challenge's token, a dot, and the thumbprint of the account's key (RFC 8555 §8.1)
 */
export async function challengeCertificate(
  key: SiteKey,
  domain: string,
  keyAuthorization: string,
): Promise<Uint8Array> {
  const [name, now] = [encodeName('acme-tls-alpn-01'), Date.now()]
  const toBeSigned = encodeToBeSigned({
    serialNumber: Uint8Array.of(1),
    issuer: name,
    subject: name,
    publicKey: key.publicKey,
    notBefore: now - CLOCK_SKEW_MS,
    notAfter: now + DAY_MS,
    extensions: [
      encodeExtension(DER_OID.subjectAltName, encodeDnsNames([domain])),
      encodeAcmeIdentifier(await sha256(keyAuthorization)),
    ],
  })
  return encodeSigned(toBeSigned, await key.sign(toBeSigned))
}
