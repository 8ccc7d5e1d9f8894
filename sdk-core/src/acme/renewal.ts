// When to renew a certificate, by the authority's advice where it gives any (RFC 9773).

import { renewalAt, usualRenewalAt } from '@svc/protocol/acme'
import { acmeCertificateId } from '@svc/tls/der'
import type { OwnCertificate } from '../certificate/server-certificate.ts'
import type { AcmeClient } from './client.ts'

/**
 * Resolves with the time of the renewal, in milliseconds since the epoch.
 * @throws AcmeProblem, Error, or the signal's reason, when the authority does not answer
 */
export async function renewalTimeOf(
  client: AcmeClient,
  certificate: OwnCertificate,
  signal: AbortSignal,
): Promise<number> {
  const { renewalInfo } = await client.directory(signal)
  const id = acmeCertificateId(certificate.chain[0]!)
  if (renewalInfo === undefined || id === undefined) return usualRenewalAt(certificate.own)
  const { json } = await client.get(`${renewalInfo}/${id}`, signal)
  return renewalAt(certificate.own, json.suggestedWindow, fractionOf(certificate))
}

/** Returns a number from 0 to below 1, always the same for one certificate, so that sites do not all renew at once. */
function fractionOf({ chain }: OwnCertificate): number {
  // The end of a certificate is its signature, which is as good as random.
  const [a = 0, b = 0] = chain[0]!.subarray(-2)
  return (a * 256 + b) / 65_536
}
