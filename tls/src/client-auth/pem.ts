// Reads PEM files (RFC 7468) of certificates and revocation lists.

import { TlsError } from '../errors.ts'

/** The most blocks in a file: a CA bundle of an operating system has about 150. */
const BLOCKS_MAX = 1_000

/**
 * Returns the DER of each block, in their order. Text around blocks is ignored (§5.2).
 * @param label such as `CERTIFICATE`
 * @throws TlsError `invalid_config` when there is none, too many, or one that is not Base64
 */
export function readPem(text: string, label: 'CERTIFICATE' | 'X509 CRL'): Uint8Array[] {
  const [, ...begun] = text.split(`-----BEGIN ${label}-----`)
  const bodies = begun.map((block) => {
    const [body, ...rest] = block.split(`-----END ${label}-----`)
    return rest.length === 1 ? body!.replace(/\s/g, '') : undefined
  })
  if (bodies.length === 0 || bodies.includes(undefined) || bodies.length > BLOCKS_MAX)
    throw new TlsError('invalid_config', `it has no PEM of ${label}, or a broken one`)
  return bodies.map((body) => fromBase64(body!))
}

function fromBase64(body: string): Uint8Array {
  try {
    return Uint8Array.from(atob(body), (character) => character.charCodeAt(0))
  } catch (cause) {
    throw new TlsError('invalid_config', 'its PEM is not Base64', { cause })
  }
}
