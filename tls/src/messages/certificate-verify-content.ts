// What the signature in a CertificateVerify covers (RFC 8446 §4.4.3).

import { concat } from './writer.ts'

const SERVER_CONTEXT = 'TLS 1.3, server CertificateVerify'

/**
 * Returns the bytes that a server's CertificateVerify signs (§4.4.3): 64 spaces, the context string, a zero byte, the
 * transcript hash.
 */
export function certificateVerifyContent(transcriptHash: Uint8Array): Uint8Array {
  return concat(new TextEncoder().encode(`${' '.repeat(64)}${SERVER_CONTEXT}\0`), transcriptHash)
}
