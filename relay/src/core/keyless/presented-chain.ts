// Recognizes the chain that a site presents: its lease certificate or the shared one, current or previous.

import type { Certificates } from '../certificates/certificate-files.ts'
import { isLeaseCertificate } from '../certificates/lease-certificate.ts'
import type { Lease } from '../lease/lease.ts'

export interface PresentedChain {
  /** The certificates whose key signs for this chain. */
  certificates: Certificates
  /** DER, leaf first. */
  chain: readonly Uint8Array[]
  /** Whether the chain names hostnames of this lease only. */
  isLeaseCertificate: boolean
}

/**
 * @param sent the certificates that the site sends, DER, leaf first
 * @param candidates the relay's certificates, the newest first
 * @returns the newest when `sent` is none of them; the caller's checks then refuse the request
 */
export function presentedChain(
  sent: readonly Uint8Array[],
  candidates: readonly Certificates[],
  lease: Lease,
): PresentedChain {
  return find(sent, candidates, lease) ?? shared(candidates[0]!)
}

function find(
  sent: readonly Uint8Array[],
  candidates: readonly Certificates[],
  lease: Lease,
): PresentedChain | undefined {
  const same = candidates.find(({ chain }) => isSameChain(sent, chain))
  if (same !== undefined) return shared(same)
  // A server may leave the root out (RFC 8446 §4.4.2), as earlier releases of the relay did.
  const rootless = candidates.find(
    ({ chain, authority }) => authority && isSameChain(sent, chain.slice(0, -1)),
  )
  if (rootless !== undefined) return { ...shared(rootless), chain: sent }
  const issuer = candidates.find((certificates) => isLeaseCertificate(sent, lease, certificates))
  return issuer && { certificates: issuer, chain: sent, isLeaseCertificate: true }
}

function shared(certificates: Certificates): PresentedChain {
  return { certificates, chain: certificates.chain, isLeaseCertificate: false }
}

/** Whether two chains have the same certificates. */
export function isSameChain(sent: readonly Uint8Array[], chain: readonly Uint8Array[]): boolean {
  return sent.length === chain.length && sent.every((der, index) => Buffer.compare(der, chain[index]!) === 0)
}
