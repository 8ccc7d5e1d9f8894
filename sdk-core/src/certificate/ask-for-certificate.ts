// Requests the site's own certificate from a relay: `POST /sdk/certificate` (docs/protocol.md §11).

import { HEADER, PATH, type SiteCertificateRequest } from '@svc/protocol'
import { toBase64 } from '../bytes/base64.ts'
import { requireRecord, requireText } from '../control/json-checks.ts'
import type { RelayClient } from '../control/relay-client.ts'
import { SvcError } from '../errors.ts'
import { parsePem } from './certificate-chain.ts'
import { CERTIFICATE_WAIT_MAX_MS } from './limits.ts'

/** The certificates as DER, leaf first; or the milliseconds after which the SDK asks again. */
type CertificateAnswer = { chain: Uint8Array[] } | { retryAfterMs: number }

/** PEM is ASCII. `RelayClient` has bounded the size. */
const PEM = /^[\x20-\x7e\r\n]+$/

/**
 * Sends a request.
 * @param csr PKCS #10, DER
 * @throws SvcError
 */
export async function askForCertificate(
  client: RelayClient,
  accessToken: string,
  csr: Uint8Array,
  signal: AbortSignal,
): Promise<CertificateAnswer> {
  const body: SiteCertificateRequest = { csr: toBase64(csr) }
  const headers = { [HEADER.accessToken]: accessToken }
  const answer = requireRecord(
    await client.call(PATH.siteCertificate, { body, headers, signal }),
    'certificate',
  )
  const { retry_after: seconds } = answer
  if (seconds === undefined) return { chain: parsePem(requireText(answer, 'chain', PEM)) }
  if (typeof seconds !== 'number' || !(seconds > 0))
    throw new SvcError('unexpected_answer', 'retry_after is not a number of seconds')
  return { retryAfterMs: Math.min(seconds * 1000, CERTIFICATE_WAIT_MAX_MS) }
}
