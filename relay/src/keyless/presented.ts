// Which certificates a tenant presents: its own or those that all share, perhaps still those from before a rotation.

import { parseCertificate } from '@svc/tls/messages'
import { isOwn } from '../certificates/own.ts'
import type { Certificates } from '../certificates/store.ts'
import type { Lease } from '../lease/lease.ts'
import { SignError } from './sign-error.ts'

const CERTIFICATE_TYPE = 11
/** Type, and the lengths of message, list and certificate. */
const SINGLE_CERTIFICATE_AT = 10

export interface Presented {
  /** Whose key signs. */
  certificates: Certificates
  /** DER, leaf first. */
  chain: readonly Uint8Array[]
  /** It names hostnames of this lease only. */
  isOwn: boolean
}

/**
 * @param certificate the tenant's Certificate message
 * @param candidates the relay's certificates, the newest first
 * @returns the newest when none is presented: the checks that follow say what is wrong
 */
export function presented13(
  certificate: Uint8Array,
  candidates: readonly Certificates[],
  lease: Lease,
): Presented {
  const sent = parseCertificate(certificate).certificates
  return find(sent, candidates, lease) ?? shared(candidates[0]!)
}

/** @param certificate undefined from a tenant that does not say; it has followed the last rotation, or fails the visitor */
export function presented12(
  certificate: Uint8Array | undefined,
  candidates: readonly Certificates[],
  lease: Lease,
): Presented {
  if (certificate === undefined) return shared(candidates[0]!)
  const only = certificate.subarray(SINGLE_CERTIFICATE_AT)
  const chains = [[only], ...candidates.map(({ chain }) => chain)]
  const sent = chains.find((chain) => certificateMessage(chain).equals(certificate))
  const found = sent && find(sent, candidates, lease)
  if (found === undefined) throw new SignError(403, "certificate does not carry this relay's chain")
  return found
}

function find(
  sent: readonly Uint8Array[],
  candidates: readonly Certificates[],
  lease: Lease,
): Presented | undefined {
  const same = candidates.find(({ chain }) => isSame(sent, chain))
  if (same !== undefined) return shared(same)
  const issuer = candidates.find((certificates) => isOwn(sent, lease, certificates))
  return issuer && { certificates: issuer, chain: sent, isOwn: true }
}

function shared(certificates: Certificates): Presented {
  return { certificates, chain: certificates.chain, isOwn: false }
}

/** Whether a tenant sent this very chain. */
export function isSame(sent: readonly Uint8Array[], chain: readonly Uint8Array[]): boolean {
  return sent.length === chain.length && sent.every((der, index) => Buffer.compare(der, chain[index]!) === 0)
}

/** RFC 5246 §7.4.2: type, length, and the certificates within a length, each within its own. */
function certificateMessage(chain: readonly Uint8Array[]): Buffer {
  const entries = Buffer.concat(chain.flatMap((der) => [uint24(der.length), der]))
  const list = Buffer.concat([uint24(entries.length), entries])
  return Buffer.concat([Buffer.of(CERTIFICATE_TYPE), uint24(list.length), list])
}

function uint24(value: number): Buffer {
  return Buffer.of(value >> 16, value >> 8, value)
}
