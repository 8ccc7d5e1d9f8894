// What a ClientHello of TLS 1.2 and our preferences agree on (RFC 5246 §7.4.1, RFC 8422 §5.1). Decides; sends nothing.

import { SCHEME_OF } from '../certificate/leaf.ts'
import type { Settings } from '../config.ts'
import { violation } from '../errors.ts'
import { chooseAlpn } from '../handshake/negotiate.ts'
import type { ClientHello } from '../messages/client-hello.ts'
import { EXTENSION, NAMED_GROUP } from '../messages/constants.ts'
import { SUITES, type Suite } from './cipher-suites.ts'

export interface NegotiatedParameters {
  suite: Suite
  group: number
  alpn: string | undefined
  /**
   * RFC 7627. Clients without it are served, which §5.3 leaves to us: the attack that it ends needs a resumption or a
   * renegotiation after it, which are not here, or an exporter, which they do not get.
   */
  extendedMasterSecret: boolean
  /** RFC 5746: the client knows about it, so that it must be told that we do. */
  secureRenegotiation: boolean
}

const GROUPS: readonly number[] = [NAMED_GROUP.x25519, NAMED_GROUP.secp256r1, NAMED_GROUP.secp384r1]

/** Offered as a suite by a client that cannot send renegotiation_info (RFC 5746 §3.3). */
const TLS_EMPTY_RENEGOTIATION_INFO_SCSV = 0x00ff
const NO_COMPRESSION = 0
const UNCOMPRESSED = 0

/** @throws TlsError with the alert of the rule that the ClientHello breaks, or of what we have not in common */
export function negotiate(hello: ClientHello, { algorithm, alpn }: Settings): NegotiatedParameters {
  // RFC 5246 §7.4.1.2: "This vector MUST contain … CompressionMethod.null".
  if (!hello.compressionMethods.includes(NO_COMPRESSION))
    throw violation('illegal_parameter', 'no compression is not offered')
  requireUncompressedPoints(hello)
  const suite = SUITES[algorithm].find(({ id }) => hello.cipherSuites.includes(id))
  // §7.4.1.4.1: without signature_algorithms it is SHA-1, which nobody here signs.
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

/** RFC 8422 §5.1: also the curve of our certificate must be one that the client has; without a list it has P-256. */
function chooseGroup({ extensions, supportedGroups }: ClientHello, certificateIsP256: boolean): number {
  if (!extensions.has(EXTENSION.supported_groups)) return NAMED_GROUP.secp256r1
  const group = GROUPS.find((candidate) => supportedGroups.includes(candidate))
  if (group === undefined || (certificateIsP256 && !supportedGroups.includes(NAMED_GROUP.secp256r1)))
    throw violation('handshake_failure', 'no group in common')
  return group
}

/** RFC 8422 §5.1.2. */
function requireUncompressedPoints({ extensions }: ClientHello): void {
  const formats = extensions.get(EXTENSION.ec_point_formats)
  if (formats === undefined) return
  if (formats.length < 2 || formats[0] !== formats.length - 1)
    throw violation('decode_error', 'ec_point_formats does not add up')
  if (!formats.subarray(1).includes(UNCOMPRESSED))
    throw violation('illegal_parameter', 'uncompressed points are not offered')
}

/** RFC 5746 §3.6: in a first handshake renegotiated_connection is empty. */
function knowsSecureRenegotiation({ extensions, cipherSuites }: ClientHello): boolean {
  const info = extensions.get(EXTENSION.renegotiation_info)
  if (info === undefined) return cipherSuites.includes(TLS_EMPTY_RENEGOTIATION_INFO_SCSV)
  if (info.length !== 1 || info[0] !== 0)
    throw violation('handshake_failure', 'renegotiation_info of another connection')
  return true
}

/** RFC 7627 §5.1. */
function hasExtendedMasterSecret({ extensions }: ClientHello): boolean {
  const body = extensions.get(EXTENSION.extended_master_secret)
  if (body !== undefined && body.length > 0)
    throw violation('decode_error', 'extended_master_secret is not empty')
  return body !== undefined
}
