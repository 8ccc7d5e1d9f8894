// Fetches the tenant certificate chain, which a page cannot read from its own TLS connections: PEM (RFC 7468) to DER.

import { HEADER, PATH } from '@svc/protocol'
import { fromBase64 } from '../bytes/base64.ts'
import { failureOf, type RelayClient } from '../control/relay-client.ts'
import { SvcError } from '../errors.ts'

/** The most certificates of a chain: the leaf, its intermediates and a few to spare. */
export const CHAIN_MAX_CERTIFICATES = 10

/**
 * Fetches the chain for this lease: leaf first, each certificate as DER. A relay without a certificate for this lease
 * alone answers with the shared one.
 * @throws SvcError
 */
export async function fetchCertificateChain(
  client: RelayClient,
  accessToken: string,
  signal?: AbortSignal,
): Promise<Uint8Array[]> {
  const headers = { [HEADER.accessToken]: accessToken }
  const answer = await client.request(PATH.certificateChain, { headers, signal })
  if (!answer.ok) throw failureOf(PATH.certificateChain, answer)
  return parsePem(answer.text)
}

const BLOCK = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]*)-----END CERTIFICATE-----/g
/** The tag of a SEQUENCE, with which every X.509 certificate begins (X.690 §8.9). */
const DER_SEQUENCE = 0x30

/**
 * Parses a chain.
 * @throws SvcError `unexpected_answer` unless it has one to ten well-formed certificates
 */
export function parsePem(pem: string): Uint8Array[] {
  const chain = Array.from(pem.matchAll(BLOCK), ([, body]) => fromBase64(body!.replace(/\s/g, '')))
  if (chain.length === 0 || chain.length > CHAIN_MAX_CERTIFICATES)
    throw new SvcError(
      'unexpected_answer',
      `the chain has ${chain.length} certificates; 1 to ${CHAIN_MAX_CERTIFICATES} are allowed`,
    )
  return chain.map((certificate) => {
    if (certificate?.[0] !== DER_SEQUENCE)
      throw new SvcError('unexpected_answer', 'the chain has what is no certificate')
    return certificate
  })
}
