// Makes the certificate signing request for the site's own certificate: PKCS #10 (RFC 2986).

import { DER_OID, DER_TAG, encodeDer, encodeDerOid } from '@svc/tls/der'
import type { SiteKey } from './site-key.ts'

const VERSION = Uint8Array.of(0)
/** The first byte of a BIT STRING: the number of unused bits at its end (X.690 §8.6.2). */
const NO_UNUSED_BITS = Uint8Array.of(0)

/**
 * Resolves with a DER request for `names`, signed by the key. Its subject is empty.
 * @param names hostnames in ASCII
 */
export async function makeCertificateRequest(key: SiteKey, names: readonly string[]): Promise<Uint8Array> {
  const info = sequence(
    encodeDer(DER_TAG.integer, VERSION),
    sequence(),
    key.publicKey,
    encodeDer(DER_TAG.constructed0, extensionRequest(names)),
  )
  const signature = await key.sign(info)
  return sequence(
    info,
    sequence(encodeDerOid(DER_OID.ecdsaWithSha256)),
    encodeDer(DER_TAG.bitString, NO_UNUSED_BITS, signature),
  )
}

/** Makes an extensionRequest (RFC 2985 §5.4.2) of a subjectAltName (RFC 5280 §4.2.1.6). */
function extensionRequest(names: readonly string[]): Uint8Array {
  const ascii = new TextEncoder()
  const hosts = names.map((name) => encodeDer(DER_TAG.dnsName, ascii.encode(name)))
  const extension = sequence(
    encodeDerOid(DER_OID.subjectAltName),
    encodeDer(DER_TAG.octetString, sequence(...hosts)),
  )
  return sequence(encodeDerOid(DER_OID.extensionRequest), encodeDer(DER_TAG.set, sequence(extension)))
}

function sequence(...parts: Uint8Array[]): Uint8Array {
  return encodeDer(DER_TAG.sequence, ...parts)
}
