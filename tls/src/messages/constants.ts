// The code points of TLS (IANA registries; RFC 8446 Appendix B), by their names in the RFCs.

/** ALERT has the `AlertDescription`s of RFC 8446 §6 that this server sends or may get, and no_renegotiation of RFC 5246 §7.2. */
export const ALERT = {
  close_notify: 0,
  unexpected_message: 10,
  bad_record_mac: 20,
  record_overflow: 22,
  handshake_failure: 40,
  bad_certificate: 42,
  unsupported_certificate: 43,
  certificate_revoked: 44,
  certificate_expired: 45,
  certificate_unknown: 46,
  illegal_parameter: 47,
  unknown_ca: 48,
  access_denied: 49,
  decode_error: 50,
  decrypt_error: 51,
  protocol_version: 70,
  internal_error: 80,
  inappropriate_fallback: 86,
  user_canceled: 90,
  no_renegotiation: 100,
  missing_extension: 109,
  unsupported_extension: 110,
  unrecognized_name: 112,
  certificate_required: 116,
  no_application_protocol: 120,
} as const

/** AlertName is the name of an alert (RFC 8446 §6). */
export type AlertName = keyof typeof ALERT

/** CONTENT_TYPE has the `ContentType`s of RFC 8446 §5.1. */
export * as CONTENT_TYPE from './content-types.ts'
/** EXTENSION has the `ExtensionType`s of RFC 8446 §4.2, and two of TLS 1.2 alone (RFC 8422 §5.1.2, RFC 7627 §5.1). */
export * as EXTENSION from './extension-types.ts'
/** HANDSHAKE_TYPE has the `HandshakeType`s of RFC 8446 §4, and those of TLS 1.2 alone (RFC 5246 §7.4, RFC 6066 §8). */
export * as HANDSHAKE_TYPE from './handshake-types.ts'

/** The `ExtensionType` renegotiation_info of TLS 1.2 (RFC 5746 §3.2). */
export const RENEGOTIATION_INFO = 0xff01

/**
 * CERTIFICATE_COMPRESSION has the `CertificateCompressionAlgorithm`s of RFC 8879 §7.3. No platform can write zstd (3).
 */
export const CERTIFICATE_COMPRESSION = { zlib: 1, brotli: 2 } as const

/** CIPHER_SUITE has the cipher suites of TLS 1.3 (RFC 8446 §B.4). */
export * as CIPHER_SUITE from './cipher-suites.ts'

/** A client that tries again with an older version offers this as a suite (RFC 7507 §2). */
export const TLS_FALLBACK_SCSV = 0x5600

/** NAMED_GROUP has the `NamedGroup`s of RFC 8446 §4.2.7, and the hybrid of draft-ietf-tls-ecdhe-mlkem. */
export * as NAMED_GROUP from './named-groups.ts'

/** SIGNATURE_SCHEME has the `SignatureScheme`s of RFC 8446 §4.2.3. */
export const SIGNATURE_SCHEME = {
  ecdsa_secp256r1_sha256: 0x0403,
  rsa_pss_rsae_sha256: 0x0804,
  ed25519: 0x0807,
} as const

/**
 * VERSION has the `ProtocolVersion`s of hellos: TLS 1.3, the frozen one (RFC 8446 §4.1.2), and the refused one (§D.5).
 */
export * as VERSION from './versions.ts'

/** The longest fragment of a plaintext record, in bytes: 2^14 (RFC 8446 §5.1). */
export const RECORD_FRAGMENT_MAX_BYTES: number = 2 ** 14

/** A record has this many bytes of type, legacy version and length before its fragment (RFC 8446 §5.1). */
export const RECORD_HEADER_BYTES = 5

/** A handshake message has this many bytes of type and length before its body (RFC 8446 §4). */
export const HANDSHAKE_HEADER_BYTES = 4
