// Parses a ClientHello (RFC 8446 §4.1.2), of any version, with the extensions that a server acts on.

import { parseCompressionAlgorithms } from './compressed-certificate.ts'
import { EXTENSION, HANDSHAKE_TYPE } from './constants.ts'
import { DecodeError } from './errors.ts'
import { type Extensions, openMessage, readExtensions } from './extensions.ts'
import { type OfferedPsks, parsePreSharedKey } from './pre-shared-key.ts'
import { Reader } from './reader.ts'
import { parseServerName } from './server-name.ts'

/** KeyShareEntry is one public key of a key exchange (RFC 8446 §4.2.8). */
export interface KeyShareEntry {
  group: number
  keyExchange: Uint8Array
}

/**
 * A ClientHello is a parsed ClientHello message. Byte fields are views into `message`. A list is empty when its
 * extension is absent.
 */
export interface ClientHello {
  /** The whole handshake message. */
  message: Uint8Array
  legacyVersion: number
  random: Uint8Array
  sessionId: Uint8Array
  cipherSuites: number[]
  compressionMethods: Uint8Array
  extensions: Extensions
  /** The host_name of server_name (RFC 6066 §3), in lower case. */
  serverName: string | undefined
  /** The protocols in the client's order (RFC 7301 §3.1). Each byte of a name is one character. */
  alpn: string[]
  supportedVersions: number[]
  supportedGroups: number[]
  signatureAlgorithms: number[]
  keyShares: KeyShareEntry[]
  pskKeyExchangeModes: Uint8Array
  preSharedKey: OfferedPsks | undefined
  earlyData: boolean
  /** The algorithms of compress_certificate (RFC 8879 §3), in the client's order. */
  certificateCompression: number[]
  /** The record_size_limit (RFC 8449 §4). */
  recordSizeLimit: number | undefined
}

/**
 * Parses a whole ClientHello message, header included.
 * @throws DecodeError `decode_error` for inconsistent lengths, `illegal_parameter` for duplicates, a
 *   pre_shared_key that is not last, or a value out of its range
 */
export function parseClientHello(message: Uint8Array): ClientHello {
  const reader = openMessage(message, HANDSHAKE_TYPE.client_hello, 'ClientHello')
  const legacyVersion = reader.u16()
  const random = reader.bytes(32)
  const sessionId = reader.vector(1)
  if (sessionId.length > 32) throw new DecodeError('decode_error', 'a session id over 32 bytes')
  const cipherSuites = reader.u16Vector(2)
  const compressionMethods = reader.vector(1, 1)
  // Before TLS 1.3 the whole extension block may be missing (RFC 5246 §7.4.1.2).
  const extensions: Extensions = reader.done ? new Map() : readExtensions(reader, 'ClientHello')
  reader.end()
  if (extensions.has(EXTENSION.pre_shared_key) && [...extensions.keys()].at(-1) !== EXTENSION.pre_shared_key)
    throw new DecodeError('illegal_parameter', 'pre_shared_key is not the last extension')

  const inside = <T>(type: number, parse: (body: Uint8Array) => T, absent: T): T => {
    const body = extensions.get(type)
    return body === undefined ? absent : parse(body)
  }
  return {
    message,
    legacyVersion,
    random,
    sessionId,
    cipherSuites,
    compressionMethods,
    extensions,
    serverName: inside(EXTENSION.server_name, parseServerName, undefined),
    alpn: inside(EXTENSION.application_layer_protocol_negotiation, parseAlpn, []),
    supportedVersions: inside(EXTENSION.supported_versions, (b) => list(b, 'supported_versions', 1), []),
    supportedGroups: inside(EXTENSION.supported_groups, (b) => list(b, 'supported_groups', 2), []),
    signatureAlgorithms: inside(
      EXTENSION.signature_algorithms,
      (b) => list(b, 'signature_algorithms', 2),
      [],
    ),
    keyShares: inside(EXTENSION.key_share, parseKeyShares, []),
    pskKeyExchangeModes: inside(EXTENSION.psk_key_exchange_modes, parseModes, new Uint8Array()),
    preSharedKey: inside<OfferedPsks | undefined>(EXTENSION.pre_shared_key, parsePreSharedKey, undefined),
    earlyData: inside(EXTENSION.early_data, parseEmpty, false),
    certificateCompression: inside(EXTENSION.compress_certificate, parseCompressionAlgorithms, []),
    recordSizeLimit: inside<number | undefined>(EXTENSION.record_size_limit, parseRecordSizeLimit, undefined),
  }
}

/** Parses `ProtocolName protocol_name_list<2..2^16-1>`, in which no name is empty (RFC 7301 §3.1). */
export function parseAlpn(body: Uint8Array): string[] {
  const extension = new Reader(body, 'ALPN')
  const names = new Reader(extension.vector(2, 2), 'ALPN list')
  extension.end()
  const alpn: string[] = []
  while (!names.done) alpn.push(String.fromCharCode(...names.vector(1, 1)))
  return alpn
}

function list(body: Uint8Array, what: string, width: 1 | 2): number[] {
  const reader = new Reader(body, what)
  const values = reader.u16Vector(width)
  reader.end()
  return values
}

/** Parses `KeyShareEntry client_shares<0..2^16-1>`, with at most one entry for a group (§4.2.8). */
function parseKeyShares(body: Uint8Array): KeyShareEntry[] {
  const extension = new Reader(body, 'key_share')
  const entries = new Reader(extension.vector(2), 'key_share list')
  extension.end()
  const shares = new Map<number, KeyShareEntry>()
  while (!entries.done) {
    const group = entries.u16()
    if (shares.has(group)) throw new DecodeError('illegal_parameter', `two key shares for group ${group}`)
    shares.set(group, { group, keyExchange: entries.vector(2, 1) })
  }
  return [...shares.values()]
}

function parseModes(body: Uint8Array): Uint8Array {
  const reader = new Reader(body, 'psk_key_exchange_modes')
  const modes = reader.vector(1, 1)
  reader.end()
  return modes
}

function parseEmpty(body: Uint8Array): boolean {
  new Reader(body, 'early_data').end()
  return true
}

/** Parses the limit. "Endpoints MUST NOT send a record_size_limit with a value smaller than 64" (RFC 8449 §4). */
function parseRecordSizeLimit(body: Uint8Array): number {
  const reader = new Reader(body, 'record_size_limit')
  const limit = reader.u16()
  reader.end()
  if (limit < 64) throw new DecodeError('illegal_parameter', `record_size_limit of ${limit}`)
  return limit
}
