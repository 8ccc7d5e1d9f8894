// Chooses the certificate with which the relay ends TLS for the hostname of a site that asked for it.

import type { Certificates } from './certificate-files.ts'
import type { CertificateRotation } from './certificate-rotation.ts'
import { createLeaf } from './development-ca.ts'
import type { CertificateAuthority } from './development-names.ts'
import { LEASE_CERTIFICATE_RENEWAL_MS } from './lease-certificate.ts'

/** Hostnames whose certificates are ready: all snapshots that a relay keeps, and some that have just gone. */
export const SERVER_CERTIFICATES_MAX = 160

export interface ServerCertificate {
  /** PEM, leaf first. */
  readonly chain: string
  /** PEM. */
  readonly key: string
  /**
   * True when its key is only for this hostname: then HTTP/2 and TLS 1.2 are safe. With the key of the wildcard they
   * are not: browsers share an HTTP/2 connection among all hosts of a certificate, and for TLS 1.2 see decision 0016.
   */
  readonly isOwn: boolean
}

interface Issued {
  readonly certificate: ServerCertificate
  /** The relay's certificates of that time. */
  readonly by: Certificates
  /** Wall clock time, as the times in the certificate are. */
  readonly issuedAt: number
}

/**
 * If the relay has a development CA, each hostname gets a certificate of its own, with a key that only the relay has.
 * Otherwise the relay uses its wildcard certificate. A relay whose certificate covers only its root host serves no
 * stored files: to order a certificate for each snapshot would take half of what the authority gives new sites in a
 * week, and leave visitors without a response until then.
 */
export class ServerCertificates {
  readonly #rotation: CertificateRotation
  /** By hostname, the least recently used one first. */
  readonly #issued = new Map<string, Issued>()

  constructor(rotation: CertificateRotation) {
    this.#rotation = rotation
  }

  /** Returns whether the relay can end TLS for hostnames of sites. A later certificate may change that. */
  get isAvailable(): boolean {
    const { hasCertificate, current } = this.#rotation
    return hasCertificate && (current.authority !== undefined || current.hasWildcard)
  }

  /** @returns the same object until the certificate changes; undefined while none is available */
  of(hostname: string): ServerCertificate | undefined {
    if (!this.isAvailable) return undefined
    const { current } = this.#rotation
    const known = this.#issued.get(hostname)
    const isKnown = known !== undefined && known.by === current && isFresh(known)
    const issued = isKnown
      ? known
      : { certificate: issue(current, hostname), by: current, issuedAt: Date.now() }
    this.#issued.delete(hostname)
    this.#issued.set(hostname, issued)
    const [oldest] = this.#issued.keys()
    if (this.#issued.size > SERVER_CERTIFICATES_MAX) this.#issued.delete(oldest!)
    return issued.certificate
  }
}

function issue({ authority, chainPem, key }: Certificates, hostname: string): ServerCertificate {
  if (authority !== undefined) return { ...ownLeaf(authority, hostname), isOwn: true }
  return { chain: chainPem, key: key.export({ type: 'pkcs8', format: 'pem' }).toString(), isOwn: false }
}

function ownLeaf(
  authority: CertificateAuthority,
  hostname: string,
): Pick<ServerCertificate, 'chain' | 'key'> {
  return createLeaf(authority, hostname, [hostname])
}

/** False also for a certificate from before the wall clock was set back, which may not be valid yet. */
function isFresh({ issuedAt }: Issued): boolean {
  const age = Date.now() - issuedAt
  return age >= 0 && age < LEASE_CERTIFICATE_RENEWAL_MS
}
