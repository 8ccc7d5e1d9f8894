// Checks a path against revocation lists (RFC 5280 §6.3): what no current list covers counts as refused.

import { hex } from '../der/certificate-fields.ts'
import { violation } from '../errors.ts'
import { KEY_USAGE, type X509Certificate } from './certificate.ts'
import type { RevocationList } from './revocation-list.ts'
import { verifySignature } from './verify-signature.ts'

/**
 * Requires a current list of the issuer for each certificate of the path, without that certificate.
 * @throws TlsError `certificate_revoked`; `certificate_unknown` where a list is missing
 */
export async function requireNotRevoked(
  path: readonly X509Certificate[],
  lists: readonly RevocationList[],
  now: number,
): Promise<void> {
  for (const [index, certificate] of path.entries()) {
    // A root is its own issuer.
    const issuer = path[index + 1] ?? certificate
    const ofIssuer: RevocationList[] = []
    for (const list of lists)
      if (list.issuer === certificate.issuer && (await hasSigned(issuer, list))) ofIssuer.push(list)
    if (ofIssuer.some(({ revoked }) => revoked.has(certificate.serialNumber)))
      throw violation('certificate_revoked', 'a certificate is revoked')
    if (!ofIssuer.some(({ thisUpdate, nextUpdate }) => thisUpdate <= now && now <= nextUpdate))
      throw violation('certificate_unknown', 'the revocation list of an issuer is missing or too old')
  }
}

/** Verifies the signature of a list once for each issuer. */
async function hasSigned({ publicKey, extensions }: X509Certificate, list: RevocationList): Promise<boolean> {
  const { keyUsage = KEY_USAGE.crlSign } = extensions
  if (publicKey === undefined || list.signatureAlgorithm === undefined || !(keyUsage & KEY_USAGE.crlSign))
    return false
  const signer = hex(publicKey.spki)
  if (list.signers.has(signer)) return true
  const { signatureAlgorithm, signature, signedBytes } = list
  if (!(await verifySignature(signatureAlgorithm, publicKey, signature, signedBytes))) return false
  list.signers.add(signer)
  return true
}
