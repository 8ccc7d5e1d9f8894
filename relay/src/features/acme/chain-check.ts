// Checks the chain that an ACME authority issued before anything uses it.

import { X509Certificate } from 'node:crypto'
import { DER_TAG, DerReader } from '@svc/tls/der'
import { AcmeError } from './authority.ts'
import { CHAIN_MAX, CLOCK_SKEW_MS } from './limits.ts'

const PEM_BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/**
 * @param chain PEM, as the authority sent it
 * @param csr the request, DER
 * @returns the certificates of the chain as PEM, without the text around them
 * @throws AcmeError `unusable` that says what does not match
 */
export function checkedChain(chain: string, csr: Uint8Array, names: readonly string[]): string {
  const blocks = chain.match(PEM_BLOCK) ?? []
  const certificates = parsed(blocks)
  const [leaf] = certificates
  if (leaf === undefined) throw unusable(names, 'has no certificate')
  if (certificates.length > CHAIN_MAX) throw unusable(names, `has more than ${CHAIN_MAX} certificates`)
  if (Buffer.compare(leaf.publicKey.export({ type: 'spki', format: 'der' }), keyOf(csr)) !== 0)
    throw unusable(names, 'is not for the key of the request')
  const others = namesOf(leaf).filter((name) => !names.includes(name))
  if (others.length > 0 || namesOf(leaf).length < names.length)
    throw unusable(names, `is for ${namesOf(leaf).join(', ') || 'no name'}`)
  const [from, to] = [leaf.validFromDate, leaf.validToDate]
  if (from.getTime() > Date.now() + CLOCK_SKEW_MS || to.getTime() <= Date.now())
    throw unusable(names, `is valid from ${from.toISOString()} to ${to.toISOString()}, which is not now`)
  for (const [index, issuer] of certificates.slice(1).entries())
    if (!certificates[index]!.checkIssued(issuer)) throw unusable(names, 'is not in order')
  return `${blocks.join('\n')}\n`
}

/** The DNS names of a leaf. */
export function namesOf({ subjectAltName = '' }: X509Certificate): string[] {
  return subjectAltName
    .split(', ')
    .filter((name) => name !== '')
    .map((name) => name.replace(/^DNS:/, ''))
}

/** The SubjectPublicKeyInfo of a request (RFC 2986 §4.1). */
function keyOf(csr: Uint8Array): Uint8Array {
  const info = new DerReader(csr).enter(DER_TAG.sequence).enter(DER_TAG.sequence)
  info.take(DER_TAG.integer)
  info.take(DER_TAG.sequence)
  return info.take(DER_TAG.sequence).der
}

function parsed(blocks: readonly string[]): X509Certificate[] {
  try {
    return blocks.map((block) => new X509Certificate(block))
  } catch {
    return []
  }
}

function unusable(names: readonly string[], why: string): AcmeError {
  return new AcmeError('unusable', `the chain that the ACME authority issued for ${names.join(', ')} ${why}`)
}
