// Finds and validates the path from a client's certificate to a root (RFC 5280 §6), for the purpose clientAuth.

import { violation } from '../errors.ts'
import { KEY_USAGE, type X509Certificate } from './certificate.ts'
import { PATH_MAX_CERTIFICATES } from './limits.ts'
import { requireNotRevoked } from './revocation.ts'
import type { RevocationList } from './revocation-list.ts'
import { verifySignature } from './verify-signature.ts'

export interface PathOptions {
  /** The trusted certificates: all of them are of CAs. */
  anchors: readonly X509Certificate[]
  /** With lists, each certificate of a path needs one of its issuer. Undefined: nothing is revoked. */
  revocationLists: readonly RevocationList[] | undefined
  /** The current time, in milliseconds since the epoch. */
  now: number
}

/**
 * Resolves with the path, the client's certificate first, once it is valid.
 * @param presented the client's certificates, its own first, and the others in any order
 * @throws TlsError with the alert that tells the client what is wrong
 */
export async function validPath(
  presented: readonly [X509Certificate, ...X509Certificate[]],
  options: PathOptions,
): Promise<X509Certificate[]> {
  const [leaf, ...others] = presented
  requireAcceptable(leaf, options.now)
  if (leaf.extensions.keyUsage !== undefined && !has(leaf, 'digitalSignature'))
    throw violation('unsupported_certificate', 'the key of the certificate is not for signatures')
  const path = await findPath(leaf, others, options)
  for (const [below, certificate] of path.slice(1).entries()) {
    requireAcceptable(certificate, options.now)
    requirePathLength(certificate, path.slice(1, below + 1))
  }
  if (options.revocationLists) await requireNotRevoked(path, options.revocationLists, options.now)
  return path
}

/** Goes from issuer to issuer, up to the first trusted one. */
async function findPath(
  leaf: X509Certificate,
  others: readonly X509Certificate[],
  { anchors, now }: PathOptions,
): Promise<X509Certificate[]> {
  const path = [leaf]
  for (let last = leaf; !anchors.includes(last); ) {
    const issuer = await findIssuer(last, [...anchors, ...others], path, now)
    if (issuer === undefined) throw violation('unknown_ca', 'no trusted CA issued the certificate')
    path.push(issuer)
    if (path.length > PATH_MAX_CERTIFICATES) throw violation('unknown_ca', 'the path is too long')
    last = issuer
  }
  return path
}

/**
 * Resolves with the certificate whose key signed `certificate`, preferably one that is valid now.
 * @returns undefined when there is no candidate
 * @throws TlsError `bad_certificate` when none of the candidates signed it
 */
async function findIssuer(
  certificate: X509Certificate,
  among: readonly X509Certificate[],
  path: readonly X509Certificate[],
  now: number,
): Promise<X509Certificate | undefined> {
  const candidates = among.filter(
    (candidate) => isCandidate(candidate, certificate) && !path.includes(candidate),
  )
  const inOrder = [
    ...candidates.filter((candidate) => isCurrent(candidate, now)),
    ...candidates.filter((candidate) => !isCurrent(candidate, now)),
  ]
  for (const candidate of inOrder) if (await hasSigned(candidate, certificate)) return candidate
  if (candidates.length > 0) throw violation('bad_certificate', 'no issuer made the signature')
  return undefined
}

function isCandidate(candidate: X509Certificate, { issuer, extensions }: X509Certificate): boolean {
  const { isCa, keyUsage, subjectKeyId } = candidate.extensions
  return (
    candidate.subject === issuer &&
    isCa &&
    (keyUsage === undefined || has(candidate, 'keyCertSign')) &&
    [undefined, subjectKeyId].includes(subjectKeyId && extensions.authorityKeyId)
  )
}

async function hasSigned(
  { publicKey }: X509Certificate,
  { signatureAlgorithm, signature, signedBytes }: X509Certificate,
): Promise<boolean> {
  if (publicKey === undefined || signatureAlgorithm === undefined) return false
  return verifySignature(signatureAlgorithm, publicKey, signature, signedBytes)
}

function isCurrent({ notBefore, notAfter }: X509Certificate, now: number): boolean {
  return notBefore <= now && now <= notAfter
}

function has({ extensions }: X509Certificate, usage: keyof typeof KEY_USAGE): boolean {
  return ((extensions.keyUsage ?? 0) & KEY_USAGE[usage]) !== 0
}

/** Checks what each certificate of the path must fulfil. */
function requireAcceptable(certificate: X509Certificate, now: number): void {
  if (!isCurrent(certificate, now)) throw violation('certificate_expired', 'a certificate is not valid now')
  const { isForClients, refused } = certificate.extensions
  if (refused !== undefined)
    throw violation('unsupported_certificate', `extension ${refused} of a certificate is not supported`)
  if (!isForClients) throw violation('unsupported_certificate', 'a certificate is not for clients')
}

/** Requires that a CA allows the CAs below it (§4.2.1.9), of which those that renew themselves do not count. */
function requirePathLength({ extensions }: X509Certificate, below: readonly X509Certificate[]): void {
  const { pathLength = Number.POSITIVE_INFINITY } = extensions
  if (below.filter(({ issuer, subject }) => issuer !== subject).length > pathLength)
    throw violation('unknown_ca', 'a CA does not allow so many CAs below it')
}
