// Issues lease certificates: each has the hostnames of one lease and the relay's key.

import { createPublicKey, hash, X509Certificate } from 'node:crypto'
import { RelayError } from '../errors.ts'
import type { Lease } from '../lease/lease.ts'
import { siteHostnames } from '../lease/site-hostnames.ts'
import type { Certificates } from './certificate-files.ts'
import type { CertificateRotation } from './certificate-rotation.ts'
import { createLeafFor } from './development-ca.ts'
import type { CertificateAuthority } from './development-names.ts'

/** Age at which the relay renews a lease certificate, which is valid far longer. */
export const LEASE_CERTIFICATE_RENEWAL_MS: number = 30 * 86_400_000

interface Issued {
  chainPem: string
  by: Certificates
  /** Wall clock time, as the times in the certificate are. */
  issuedAt: number
}

export class LeaseCertificates {
  readonly #rootHost: string
  readonly #rotation: CertificateRotation
  readonly #issued = new WeakMap<Lease, Issued>()
  /** SubjectPublicKeyInfo of the key that all lease certificates share. */
  #shared: { of: Certificates; publicKey: Uint8Array } | undefined

  /** @param rootHost the host that no lease certificate contains */
  constructor(rootHost: string, rotation: CertificateRotation) {
    this.#rootHost = rootHost
    this.#rotation = rotation
  }

  /**
   * The lease certificate when the relay has a CA, otherwise the shared certificate.
   * @returns PEM, leaf first
   * @throws RelayError `feature_unavailable` when the relay's certificate covers no hostnames of sites
   */
  chainFor(lease: Lease): string {
    const { current } = this.#rotation
    requireWildcard(current)
    if (current.authority === undefined) return current.chainPem
    const issued = this.#issued.get(lease)
    if (issued?.by === current && isFresh(issued)) return issued.chainPem
    const hostnames = siteHostnames(lease, this.#rootHost)
    const chainPem = createLeafFor(current.authority, this.#publicKeyOf(current), hostnames)
    this.#issued.set(lease, { chainPem, by: current, issuedAt: Date.now() })
    return chainPem
  }

  #publicKeyOf(certificates: Certificates): Uint8Array {
    if (this.#shared?.of === certificates) return this.#shared.publicKey
    const publicKey = createPublicKey(certificates.key).export({ type: 'spki', format: 'der' })
    this.#shared = { of: certificates, publicKey }
    return publicKey
  }
}

/** @throws RelayError `feature_unavailable` when these certificates cover no hostnames of sites */
export function requireWildcard({ hasWildcard }: Certificates): void {
  if (!hasWildcard)
    throw new RelayError(
      'feature_unavailable',
      "this relay's certificate does not cover sites: each needs a certificate of its own",
    )
}

/** False also for a certificate from before the wall clock was set back, which may not be valid yet. */
function isFresh({ issuedAt }: Issued): boolean {
  const age = Date.now() - issuedAt
  return age >= 0 && age < LEASE_CERTIFICATE_RENEWAL_MS
}

/** A leaf known to belong to a lease. Checking one means parsing two certificates and verifying a signature. */
interface Recognized {
  /** SHA-256 of the leaf. */
  digest: string
  by: Certificates
  /** Wall clock time. */
  validUntil: number
}

const recognized = new WeakMap<Lease, Recognized>()

/**
 * Whether a chain is a certificate of the lease. Only its content counts, so that a site can keep its chain when the
 * relay restarts.
 * @param chain DER, leaf first, as a site sends it
 */
export function isLeaseCertificate(chain: readonly Uint8Array[], lease: Lease, by: Certificates): boolean {
  const { authority } = by
  const [der, ...rest] = chain
  if (authority === undefined || der === undefined || rest.length > 0) return false
  const digest = hash('sha256', der, 'base64')
  const known = recognized.get(lease)
  if (known?.by === by && known.digest === digest) return Date.now() < known.validUntil
  const leaf = certificateOf(der)
  if (leaf === undefined || !isOf(lease, leaf, by, authority)) return false
  const validUntil = leaf.validToDate.getTime()
  recognized.set(lease, { digest, by, validUntil })
  return Date.now() < validUntil
}

function isOf(
  lease: Lease,
  leaf: X509Certificate,
  { key }: Certificates,
  authority: CertificateAuthority,
): boolean {
  return (
    leaf.checkPrivateKey(key) &&
    leaf.verify(new X509Certificate(authority.certificate).publicKey) &&
    namesOf(leaf).every((name) => lease.hostnames.includes(name))
  )
}

function certificateOf(der: Uint8Array): X509Certificate | undefined {
  try {
    return new X509Certificate(der)
  } catch {
    return undefined
  }
}

/** Names of the leaf. Names other than DNS names keep their prefix, so that they match no hostname of a lease. */
function namesOf(leaf: X509Certificate): string[] {
  return (leaf.subjectAltName ?? '').split(', ').map((name) => name.replace(/^DNS:/, ''))
}
