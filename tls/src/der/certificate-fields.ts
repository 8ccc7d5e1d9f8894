// Locates the needed fields of a certificate (RFC 5280 §4.1), without interpreting them.

import { type DerElement, DerReader } from './reader.ts'
import * as DER_TAG from './tags.ts'

/** CertificateFields are fields of the TBSCertificate, as views into the certificate. */
export interface CertificateFields {
  serialNumber: DerElement
  issuer: DerElement
  validity: DerElement
  subject: DerElement
  /** The SubjectPublicKeyInfo. */
  publicKey: DerElement
  /** The Extension structures, in their order. */
  extensions: DerElement[]
}

/** @throws RangeError for bytes that are not a certificate */
export function certificateFields(certificate: Uint8Array): CertificateFields {
  const fields = new DerReader(certificate).enter(DER_TAG.sequence).enter(DER_TAG.sequence)
  // A certificate of version 2 or 3 has the field version.
  const first = fields.take()
  const serialNumber = first.tag === DER_TAG.constructed0 ? fields.take() : first
  fields.take() // signature
  const [issuer, validity, subject, publicKey] = [fields.take(), fields.take(), fields.take(), fields.take()]
  const extensions: DerElement[] = []
  while (!fields.isDone) {
    const { tag, content } = fields.take()
    if (tag !== DER_TAG.constructed3) continue
    const list = new DerReader(content).enter(DER_TAG.sequence)
    while (!list.isDone) extensions.push(list.take())
  }
  return { serialNumber, issuer, validity, subject, publicKey, extensions }
}

/**
 * Returns the value of an extension (§4.2), or undefined.
 * @param id as in {@link DER_OID}
 */
export function extensionValue({ extensions }: CertificateFields, id: string): Uint8Array | undefined {
  for (const { content } of extensions) {
    const extension = new DerReader(content)
    if (hex(extension.take().content) !== id) continue
    const value = extension.take()
    // `critical` precedes the value.
    return (value.tag === DER_TAG.boolean ? extension.take() : value).content
  }
  return undefined
}

export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
