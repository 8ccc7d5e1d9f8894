// One chain that is kept for a site: parses it, and checks its key, names and remaining validity.

import { X509Certificate } from 'node:crypto'
import { dnsNamesOf } from '../../core/certificates/certificate-status.ts'
import type { CertificateRequest } from './certificate-request.ts'
import { SITE_RENEWAL_SHARE } from './limits.ts'

const BLOCK = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/

/** The fields of a chain's leaf that the relay needs. */
export interface KeptLeaf {
  /** DER. */
  certificate: Buffer
  /** SubjectPublicKeyInfo, DER. */
  publicKey: Buffer
  names: readonly string[]
  /** Wall clock times in milliseconds. */
  notBefore: number
  notAfter: number
}

/** @param pem leaf first @returns undefined for an invalid chain */
export function leafOf(pem: string): KeptLeaf | undefined {
  const [block] = BLOCK.exec(pem) ?? []
  if (block === undefined) return undefined
  try {
    const leaf = new X509Certificate(block)
    return {
      certificate: leaf.raw,
      publicKey: leaf.publicKey.export({ type: 'spki', format: 'der' }),
      names: dnsNamesOf(leaf),
      notBefore: leaf.validFromDate.getTime(),
      notAfter: leaf.validToDate.getTime(),
    }
  } catch {
    return undefined
  }
}

/** Whether a leaf has the key and the names of a request, and is not due for renewal. */
export function answers(leaf: KeptLeaf, { publicKey, names }: CertificateRequest): boolean {
  const hasNames = leaf.names.length === names.length && leaf.names.every((name) => names.includes(name))
  return hasNames && leaf.publicKey.equals(publicKey) && !isDue(leaf)
}

function isDue({ notBefore, notAfter }: KeptLeaf): boolean {
  const now = Date.now()
  return now < notBefore || notAfter - now <= (notAfter - notBefore) * SITE_RENEWAL_SHARE
}
