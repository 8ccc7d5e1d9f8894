// Which certificates a tenant presents: its own or those that all share, perhaps still those from before a rotation.

import type { Certificates } from '../certificates/certificate-files.ts'
import { isLeaseCertificate } from '../certificates/lease-certificate.ts'
import type { Lease } from '../lease/lease.ts'

export interface PresentedChain {
  /** Whose key signs. */
  certificates: Certificates
  /** DER, leaf first. */
  chain: readonly Uint8Array[]
  /** It names hostnames of this lease only. */
  isOwn: boolean
}

/**
 * @param sent the certificates that the tenant shows, DER, leaf first
 * @param candidates the relay's certificates, the newest first
 * @returns the newest when none is presented: the checks that follow say what is wrong
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
  const issuer = candidates.find((certificates) => isLeaseCertificate(sent, lease, certificates))
  return issuer && { certificates: issuer, chain: sent, isOwn: true }
}

function shared(certificates: Certificates): PresentedChain {
  return { certificates, chain: certificates.chain, isOwn: false }
}

/** Whether a tenant sent this very chain. */
export function isSameChain(sent: readonly Uint8Array[], chain: readonly Uint8Array[]): boolean {
  return sent.length === chain.length && sent.every((der, index) => Buffer.compare(der, chain[index]!) === 0)
}
