// The messages whose format differs in TLS 1.2 (RFC 5246 §7.4, RFC 8422 §5.4, §5.7).

import { EXTENSION, HANDSHAKE_TYPE, RENEGOTIATION_INFO, VERSION } from '../messages/constants.ts'
import { openMessage } from '../messages/extensions.ts'
import { concat, extension, handshakeMessage, u8, u16, vector } from '../messages/writer.ts'

/** The ECCurveType named_curve. */
const NAMED_CURVE = 3
const UNCOMPRESSED = 0

/** The extensions of a ServerHello, each only if the client also sent it. */
interface ServerHelloExtensions {
  serverName: boolean
  alpn: string | undefined
  recordSizeLimit: number | undefined
  extendedMasterSecret: boolean
  secureRenegotiation: boolean
  pointFormats: boolean
}

/** Encodes ServerHello (§7.4.1.3). The empty session_id says that the session cannot be resumed. */
export function encodeServerHello(
  random: Uint8Array,
  cipherSuite: number,
  extensions: ServerHelloExtensions,
): Uint8Array {
  const list = encodeExtensions(extensions)
  return handshakeMessage(
    HANDSHAKE_TYPE.server_hello,
    concat(u16(VERSION.tls12), random, vector(1), u16(cipherSuite), u8(0)),
    // Old clients may not expect an extension block when they sent none.
    list.length === 0 ? list : vector(2, list),
  )
}

function encodeExtensions(given: ServerHelloExtensions): Uint8Array {
  const { alpn, recordSizeLimit } = given
  const list: Uint8Array[] = []
  if (given.serverName) list.push(extension(EXTENSION.server_name))
  if (given.pointFormats)
    list.push(extension(EXTENSION.ec_point_formats, vector(1, Uint8Array.of(UNCOMPRESSED))))
  if (alpn !== undefined) {
    const name = Uint8Array.from(alpn, (char) => char.charCodeAt(0))
    list.push(extension(EXTENSION.application_layer_protocol_negotiation, vector(2, vector(1, name))))
  }
  if (given.extendedMasterSecret) list.push(extension(EXTENSION.extended_master_secret))
  if (recordSizeLimit !== undefined) list.push(extension(EXTENSION.record_size_limit, u16(recordSizeLimit)))
  // No connection has been renegotiated (RFC 5746 §3.6).
  if (given.secureRenegotiation) list.push(extension(RENEGOTIATION_INFO, vector(1)))
  return concat(...list)
}

/** Encodes Certificate (§7.4.2). */
export function encodeCertificate(chain: readonly Uint8Array[]): Uint8Array {
  return handshakeMessage(HANDSHAKE_TYPE.certificate, vector(3, ...chain.map((der) => vector(3, der))))
}

/** Encodes ServerECDHParams (RFC 8422 §5.4). */
export function encodeServerEcdhParams(group: number, point: Uint8Array): Uint8Array {
  return concat(u8(NAMED_CURVE), u16(group), vector(1, point))
}

/** Encodes ServerKeyExchange (RFC 8422 §5.4). */
export function encodeServerKeyExchange(
  params: Uint8Array,
  scheme: number,
  signature: Uint8Array,
): Uint8Array {
  return handshakeMessage(HANDSHAKE_TYPE.server_key_exchange, params, u16(scheme), vector(2, signature))
}

/** Encodes ServerHelloDone (§7.4.5). */
export function encodeServerHelloDone(): Uint8Array {
  return handshakeMessage(HANDSHAKE_TYPE.server_hello_done)
}

/** Parses the ClientECDiffieHellmanPublic of a ClientKeyExchange (RFC 8422 §5.7). */
export function parseClientKeyExchange(message: Uint8Array): Uint8Array {
  const reader = openMessage(message, HANDSHAKE_TYPE.client_key_exchange, 'ClientKeyExchange')
  const point = reader.vector(1, 1)
  reader.end()
  return point
}
