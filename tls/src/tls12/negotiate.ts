// Negotiates TLS 1.2 (RFC 5246 §7.4.1, RFC 8422 §5.1) from a ClientHello and the server's preferences.

import { SCHEME_OF } from '../certificate/leaf.ts'
import type { Settings } from '../config.ts'
import { violation } from '../errors.ts'
import { chooseAlpn } from '../handshake/negotiate.ts'
import type { ClientHello } from '../messages/client-hello.ts'
import { EXTENSION, NAMED_GROUP, RENEGOTIATION_INFO } from '../messages/constants.ts'
import { SUITES, type Suite } from './cipher-suites.ts'

export interface NegotiatedParameters {
  suite: Suite
  group: number
  alpn: string | undefined
  /**
   * True when both sides use RFC 7627. Clients without it are served, as §5.3 allows: the attack that it prevents needs
   * a later resumption or renegotiation, which the server refuses, or an exporter, which these clients do not get.
   */
  extendedMasterSecret: boolean
  /** True when the client supports RFC 5746, so that the server must confirm it. */
  secureRenegotiation: boolean
}

const GROUPS: readonly number[] = [NAMED_GROUP.x25519, NAMED_GROUP.secp256r1, NAMED_GROUP.secp384r1]

/** A client that cannot send renegotiation_info offers this as a suite (RFC 5746 §3.3). */
const TLS_EMPTY_RENEGOTIATION_INFO_SCSV = 0x00ff
const NO_COMPRESSION = 0
const UNCOMPRESSED = 0

/**
 * Negotiates the parameters.
 * @throws TlsError with the alert of the rule that the ClientHello breaks, or of what the two sides do not have in common
 */
export function negotiate(hello: ClientHello, { algorithm, alpn }: Settings): NegotiatedParameters {
  // "This vector MUST contain, and all implementations MUST support, CompressionMethod.null" (RFC 5246 §7.4.1.2).
  if (!hello.compressionMethods.includes(NO_COMPRESSION))
    throw violation('illegal_parameter', 'no compression is not offered')
  requireUncompressedPoints(hello)
  const suite = SUITES[algorithm].find(({ id }) => hello.cipherSuites.includes(id))
  // Without signature_algorithms the client means SHA-1 (§7.4.1.4.1), which the server does not sign.
  if (suite === undefined || !hello.signatureAlgorithms.includes(SCHEME_OF[algorithm]))
    throw violation('handshake_failure', 'no cipher suite in common with our certificate key')
  return {
    suite,
    group: chooseGroup(hello, algorithm === 'ECDSA_SHA256'),
    alpn: chooseAlpn(hello, alpn),
    extendedMasterSecret: hasExtendedMasterSecret(hello),
    secureRenegotiation: knowsSecureRenegotiation(hello),
  }
}

/**
 * Chooses the group (RFC 8422 §5.1). The client must also support the curve of the certificate. Without a list, it supports
 * P-256.
 */
function chooseGroup({ extensions, supportedGroups }: ClientHello, certificateIsP256: boolean): number {
  if (!extensions.has(EXTENSION.supported_groups)) return NAMED_GROUP.secp256r1
  const group = GROUPS.find((candidate) => supportedGroups.includes(candidate))
  if (group === undefined || (certificateIsP256 && !supportedGroups.includes(NAMED_GROUP.secp256r1)))
    throw violation('handshake_failure', 'no group in common')
  return group
}

/** Requires uncompressed points (RFC 8422 §5.1.2). */
function requireUncompressedPoints({ extensions }: ClientHello): void {
  const formats = extensions.get(EXTENSION.ec_point_formats)
  if (formats === undefined) return
  if (formats.length < 2 || formats[0] !== formats.length - 1)
    throw violation('decode_error', 'ec_point_formats has inconsistent lengths')
  if (!formats.subarray(1).includes(UNCOMPRESSED))
    throw violation('illegal_parameter', 'uncompressed points are not offered')
}

/** Returns whether the client supports RFC 5746. In a first handshake renegotiated_connection is empty (§3.6). */
function knowsSecureRenegotiation({ extensions, cipherSuites }: ClientHello): boolean {
  const info = extensions.get(RENEGOTIATION_INFO)
  if (info === undefined) return cipherSuites.includes(TLS_EMPTY_RENEGOTIATION_INFO_SCSV)
  if (info.length !== 1 || info[0] !== 0)
    throw violation('handshake_failure', 'renegotiation_info of another connection')
  return true
}

/** Says whether the client offers the extended master secret (RFC 7627 §5.1). */
function hasExtendedMasterSecret({ extensions }: ClientHello): boolean {
  const body = extensions.get(EXTENSION.extended_master_secret)
  if (body !== undefined && body.length > 0)
    throw violation('decode_error', 'extended_master_secret is not empty')
  return body !== undefined
}
