// When to renew a certificate: when a third of its lifetime is left, or earlier when the authority says so (RFC 9773).

import { hash, X509Certificate } from 'node:crypto'
import { type CertificateValidity, renewalAt, usualRenewalAt } from '@svc/protocol/acme'
import { acmeCertificateId } from '@svc/tls/der'
import type { AcmeTransport } from './transport.ts'

const FRACTION_BYTES = 6

/** A third of the lifetime before its end. @returns milliseconds of the wall clock */
export function usualRenewalTime(leaf: X509Certificate): number {
  return usualRenewalAt(validityOf(leaf))
}

/**
 * Asks the authority for the time, and falls back to {@link usualRenewalTime}.
 * @param directory URL of the ACME directory
 * @param chain PEM
 * @throws AcmeError when the authority does not answer
 */
export async function renewalTimeOf(
  chain: string,
  directory: string,
  transport: AcmeTransport,
  signal: AbortSignal,
): Promise<number> {
  const leaf = new X509Certificate(chain)
  const usual = usualRenewalTime(leaf)
  const id = certificateIdOf(leaf)
  const { renewalInfo } = await transport.getJson(directory, signal)
  if (id === undefined || typeof renewalInfo !== 'string') return usual
  const { suggestedWindow } = await transport.getJson(`${renewalInfo}/${id}`, signal)
  return renewalAt(validityOf(leaf), suggestedWindow, fractionOf(id))
}

/** The identifier of a certificate (RFC 9773 §4.1); undefined for one that does not name the key of its issuer. */
export function certificateIdOf(leaf: X509Certificate): string | undefined {
  return acmeCertificateId(leaf.raw)
}

function validityOf({ validFromDate, validToDate }: X509Certificate): CertificateValidity {
  return { notBefore: validFromDate.getTime(), notAfter: validToDate.getTime() }
}

/** A number from 0 to below 1, always the same for one certificate, so that relays do not all renew at once. */
function fractionOf(id: string): number {
  return hash('sha256', id, 'buffer').readUIntBE(0, FRACTION_BYTES) / 2 ** (8 * FRACTION_BYTES)
}
