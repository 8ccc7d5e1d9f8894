// Checks the certificate that a live site shows to the relay.

import { createSecureContext, getCACertificates, type SecureContext, type TLSSocket } from 'node:tls'
import type { CertificateRotation } from '../../../core/certificates/certificate-rotation.ts'
import type { Lease } from '../../../core/lease/lease.ts'

/**
 * Returns whether this relay has issued a certificate for a lease.
 * @param leaf DER
 */
export type HasIssued = (lease: Lease, leaf: Buffer) => Promise<boolean>

export class SiteCertificateCheck {
  readonly #certificates: Pick<CertificateRotation, 'current' | 'presentable'>
  readonly #hasIssued: HasIssued
  /** The development CA in the context, and the context, which takes some 50 ms of the relay's thread to make. */
  #trusting: { authority: string | undefined; context: SecureContext }

  constructor(certificates: Pick<CertificateRotation, 'current' | 'presentable'>, hasIssued: HasIssued) {
    this.#certificates = certificates
    this.#hasIssued = hasIssued
    this.#trusting = trusting(this.#authority)
  }

  /** Has the roots of Node and of the system, and this relay's development CA if it has one. */
  get context(): SecureContext {
    if (this.#trusting.authority !== this.#authority) this.#trusting = trusting(this.#authority)
    return this.#trusting.context
  }

  /**
   * Returns what is wrong with a site's certificate; undefined when it names the canonical hostname, and a trusted
   * authority or this relay issued it.
   * @param socket its handshake used {@link context}
   */
  async problemOf(socket: TLSSocket, lease: Lease): Promise<string | undefined> {
    if (socket.authorized) return undefined
    const leaf = socket.getPeerX509Certificate()
    if (leaf === undefined) return 'it has none'
    if (leaf.checkHost(lease.canonicalHostname, { subject: 'never' }) === undefined)
      return 'it does not name the canonical hostname'
    const now = Date.now()
    if (now < leaf.validFromDate.getTime() || now > leaf.validToDate.getTime()) return 'it is not valid now'
    const isOfRelay = this.#certificates.presentable.some(({ chain: [own] }) => own?.equals(leaf.raw))
    if (isOfRelay || (await this.#hasIssued(lease, leaf.raw))) return undefined
    return `no authority that is trusted here has issued it (${String(socket.authorizationError)})`
  }

  get #authority(): string | undefined {
    return this.#certificates.current.authority?.certificate
  }
}

function trusting(authority: string | undefined): { authority: string | undefined; context: SecureContext } {
  const roots = new Set([...getCACertificates('default'), ...getCACertificates('system')])
  if (authority !== undefined) roots.add(authority)
  return { authority, context: createSecureContext({ ca: [...roots] }) }
}
