// Checks a chain before visitors see it: it must have the site's key, name only the site, and be valid.

import {
  type CryptoProvider,
  compressCertificates,
  type LeafDetails,
  leafDetailsOf,
  ownKeySigners,
  subjectNamesOf,
} from '@svc/tls'
import { SvcError } from '../errors.ts'
import { ChainCompression } from './chain-compression.ts'
import { RENEWAL_SHARE } from './limits.ts'
import type { OwnCertificate, OwnKey } from './server-certificate.ts'
import type { SiteKey } from './site-key.ts'

/** A Leaf is what a site reads of its certificate. */
export type Leaf = LeafDetails & { names: string[] }

/** The values that a certificate is checked against. */
export interface Wanted {
  key: SiteKey
  /** The hostnames of the lease. */
  names: readonly string[]
  /** The current time, in milliseconds since the epoch. */
  now: number
  crypto: CryptoProvider | undefined
}

/**
 * Resolves with the certificate of a chain.
 * @param chain DER, leaf first
 * @throws SvcError `unexpected_answer`, whose message says what does not fit
 */
export async function checkedCertificate(
  chain: readonly Uint8Array[],
  { key, names, now, crypto }: Wanted,
): Promise<OwnCertificate> {
  const leaf = readLeaf(chain)
  if (!isSame(leaf.publicKey, key.publicKey)) throw refused('has another key than that of the site')
  if (!hasNames(leaf.names, names)) throw refused(`names ${leaf.names.join(', ')}, not ${names.join(', ')}`)
  if (!(leaf.notBefore <= now && now < leaf.notAfter)) throw refused('is not valid now')
  return ownCertificate(chain, key, leaf, crypto)
}

/** Returns the certificate of a chain that was checked. */
export function ownCertificate(
  chain: readonly Uint8Array[],
  key: SiteKey,
  { notBefore, notAfter, issuer, issuerKey, names }: Leaf,
  crypto: CryptoProvider | undefined,
): OwnCertificate {
  const own: OwnKey = {
    key,
    ...ownKeySigners((content) => key.sign(content), crypto),
    notBefore,
    notAfter,
    issuer,
    issuerKey,
  }
  const compression = new ChainCompression(chain, compressCertificates)
  return { chain, compression, algorithm: key.algorithm, names, own }
}

/** Returns whether so little of the validity is left that the site should request the next certificate. */
export function isDue({ own }: OwnCertificate, now: number): boolean {
  return own.notAfter - now <= (own.notAfter - own.notBefore) * RENEWAL_SHARE
}

/** Returns whether two lists have the same hostnames, in any order. */
export function hasNames(names: readonly string[], wanted: readonly string[]): boolean {
  return names.every((name) => wanted.includes(name)) && wanted.every((name) => names.includes(name))
}

/**
 * Returns whether the CA made a new key since it issued the certificate, as a development relay does after it lost its
 * state: then `current`, a leaf of the same relay, has the same issuer with another key.
 */
export function isOfFormerAuthority({ own }: OwnCertificate, current: Uint8Array): boolean {
  const { issuer, issuerKey } = leafDetailsOf(current)
  return issuer === own.issuer && issuerKey !== own.issuerKey
}

/**
 * Reads the leaf of a chain.
 * @throws SvcError `unexpected_answer`
 */
export function readLeaf(chain: readonly Uint8Array[]): Leaf {
  const [leaf] = chain
  if (leaf === undefined) throw refused('is missing')
  try {
    return { ...leafDetailsOf(leaf), names: subjectNamesOf(leaf) }
  } catch (cause) {
    throw new SvcError('unexpected_answer', 'the answer for the site is not a certificate', { cause })
  }
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, i) => byte === other[i])
}

function refused(why: string): SvcError {
  return new SvcError('unexpected_answer', `the certificate for the site ${why}`)
}
